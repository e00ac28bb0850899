import t from 'tap'
import { parsePage } from '#services/normaliser/markup/tree'
import { metaOf } from '#test/normaliser/pages'
import { readMetadata } from './metadata.ts'

const PAGE = 'https://www.dagkoerier.example/artikel/2026/brug-dicht'
const read = (html: string) => metaOf(html, PAGE)

const withJsonLd = (script: string) =>
  read(`<html><head><title>Brug dicht | De Dagkoerier</title><script type="application/ld+json">${script}</script></head>
    <body><h1>Brug dicht</h1></body></html>`)

const ARTICLE = {
  '@context': 'https://schema.org',
  '@type': 'NewsArticle',
  headline: 'Brug dicht',
  datePublished: '2026-11-03T14:05:00+01:00',
}
const names = (meta: ReturnType<typeof metaOf>) =>
  meta.authors.structured.map(author => author.name)

t.test('JSON-LD in every shape that outlets give it', async t => {
  const by = (author: unknown) => JSON.stringify({ ...ARTICLE, author })
  const shapes: [string, string, string[]][] = [
    ['a name', by('Jan Smit'), ['Jan Smit']],
    ['a person', by({ '@type': 'Person', name: 'Jan Smit' }), ['Jan Smit']],
    [
      'persons',
      by([{ '@type': 'Person', name: 'Jan Smit' }, { name: 'Anna Weber' }]),
      ['Jan Smit', 'Anna Weber'],
    ],
    ['a list', by({ '@list': [{ name: 'Jan Smit' }, 'Anna Weber'] }), ['Jan Smit', 'Anna Weber']],
    [
      'items',
      by({ itemListElement: [{ item: { name: 'Jan Smit' } }, 'Anna Weber'] }),
      ['Jan Smit', 'Anna Weber'],
    ],
    ['a role', by({ '@type': 'Role', author: { name: 'Jan Smit' } }), ['Jan Smit']],
    [
      'names in a list',
      by({ '@type': 'Person', name: ['Jan Smit', 'Anna Weber'] }),
      ['Jan Smit', 'Anna Weber'],
    ],
    [
      'given names',
      by({ givenName: 'Jan', additionalName: 'P.', familyName: 'Smit' }),
      ['Jan P. Smit'],
    ],
    ['an array', `[${by('Jan Smit')}]`, ['Jan Smit']],
    [
      'a graph with a reference',
      JSON.stringify({
        '@graph': [
          { ...ARTICLE, author: { '@id': '#jan' } },
          { '@id': '#jan', '@type': 'Person', name: 'Jan Smit' },
        ],
      }),
      ['Jan Smit'],
    ],
    [
      'a type with a prefix',
      by('Jan Smit').replace('NewsArticle', 'http://schema.org/NewsArticle'),
      ['Jan Smit'],
    ],
    [
      'several types',
      by('Jan Smit').replace('"NewsArticle"', '["Article","ReportageNewsArticle"]'),
      ['Jan Smit'],
    ],
    ['a live blog', by('Jan Smit').replace('NewsArticle', 'LiveBlogPosting'), ['Jan Smit']],
    ['inside a page', `{"@type":"WebPage","mainEntity":${by('Jan Smit')}}`, ['Jan Smit']],
  ]
  for (const [name, script, authors] of shapes) {
    const meta = withJsonLd(script)
    t.same(names(meta), authors, name)
    t.equal(meta.dates.structured[0], ARTICLE.datePublished, name)
    t.equal(meta.titles.structured, 'Brug dicht', name)
  }
})

t.test('JSON-LD with the mistakes that templates make', async t => {
  const good = JSON.stringify({ ...ARTICLE, author: { name: 'Jan Smit' } })
  const mistakes: [string, string][] = [
    ['in a comment', `<!-- ${good} -->`],
    ['in CDATA', `//<![CDATA[\n${good}\n//]]>`],
    ['in bare CDATA', `<![CDATA[${good}]]>`],
    ['a semicolon after', `${good};`],
    [
      'comments',
      `// "made by" a tool\n${good.replace('{', '{/* a\nb */"url":"https://x.example",')}`,
    ],
    ['a comma too many', good.replace(/}$/, ',}')],
    ['a raw line break in a string', good.replace('{', '{"description":"een\nregel\t",')],
    ['an escape that JSON does not know', good.replace('{', `{"description":"c'est \\'la\\'",`)],
    ['two objects in a row', `${good}\n{"@type":"BreadcrumbList"}`],
    ['a quote that breaks it all', good.replace('{', '{"description":"de "zogenaamde" brug",')],
    ['entities for quotes', good.replaceAll('"', '&quot;')],
  ]
  for (const [name, script] of mistakes) {
    const meta = withJsonLd(script)
    t.same(names(meta), ['Jan Smit'], name)
    t.equal(meta.dates.structured[0], ARTICLE.datePublished, name)
  }
})

t.test('of several articles the page’s own: by its address, by its headline', async t => {
  const url = 'https://www.dagkoerier.example/ander'
  const other = {
    '@type': 'NewsArticle',
    headline: 'Iets anders',
    url,
    datePublished: '2020-01-01',
  }
  const own = { ...ARTICLE, mainEntityOfPage: { '@id': `${PAGE}?utm_source=x` } }
  for (const script of [
    [other, own],
    [own, other],
    [other, ARTICLE],
    { '@type': 'ItemList', itemListElement: [other], mainEntity: own },
  ]) {
    t.equal(withJsonLd(JSON.stringify(script)).titles.structured, 'Brug dicht')
  }
  const third = { ...other, headline: 'Nog iets', url: 'https://www.dagkoerier.example/nog' }
  const list = { '@type': 'ItemList', itemListElement: [other, third] }
  t.same(withJsonLd(JSON.stringify(list)).dates.structured, [], 'a list of other articles')
  // The same path on another host.
  const moved = {
    ...ARTICLE,
    headline: 'Herschreven kop',
    url: 'https://elders.example/artikel/2026/brug-dicht',
  }
  t.equal(withJsonLd(JSON.stringify([other, moved])).titles.structured, 'Herschreven kop')
  const isPartOf = { '@type': 'CreativeWork', name: 'Archief' }
  const mentioned = { ...ARTICLE, headline: undefined, citation: other, isPartOf }
  t.equal(withJsonLd(JSON.stringify(mentioned)).dates.structured[0], ARTICLE.datePublished)
})

t.test('links, names of the site, languages, titles, free access', async t => {
  const meta = read(
    `<!doctype html><html lang="nl-BE"><head>
     <link rel="canonical" href="/artikel/2026/brug-dicht"><link rel="amphtml" href="/amp/artikel">
     <meta property="og:site_name" content="De Dagkoerier"><meta property="og:title" content="Brug &amp; weg dicht - De Dagkoerier">
     <meta property="og:locale" content="nl_BE"><title>Brug &amp; weg dicht | De Dagkoerier</title>
     <script type="application/ld+json">{"@type":"NewsArticle","isAccessibleForFree":"False","articleBody":"Tekst","publisher":{"name":"Dagkoerier NV"}}</script>
     </head><body><header><h1>De Dagkoerier</h1></header><main><h1>Brug &amp; weg dicht</h1></main></body></html>`,
  )
  t.equal(meta.canonical, '/artikel/2026/brug-dicht')
  t.equal(meta.amp, '/amp/artikel')
  t.same(meta.languages, ['nl-BE', 'nl_BE'])
  t.same(meta.siteNames, ['De Dagkoerier', 'Dagkoerier NV'])
  t.same(meta.titles, {
    structured: null,
    social: 'Brug & weg dicht - De Dagkoerier',
    headline: 'Brug & weg dicht',
    document: 'Brug & weg dicht | De Dagkoerier',
  })
  t.equal(meta.free, false)
  t.equal(meta.body, 'Tekst')
  const live = {
    '@type': 'LiveBlogPosting',
    liveBlogUpdate: [{ articleBody: 'Open.' }, { articleBody: 'Dicht.' }],
  }
  t.equal(withJsonLd(JSON.stringify(live)).body, 'Open.\n\nDicht.')
})

t.test('relative links are read against the base that the page names', async t => {
  const head = (base: string) =>
    `<head>${base}<link rel=canonical href="artikel/1"><link rel=amphtml href="amp/1"></head>`
  const based = read(head('<base target=_top><base href="/nl/"><base href="/fr/">'))
  t.equal(based.canonical, new URL('/nl/artikel/1', PAGE).href)
  t.equal(based.amp, new URL('/nl/amp/1', PAGE).href)
  t.equal(read(head('')).canonical, 'artikel/1')
  const twin =
    '<link rel="alternate" hreflang="fr" href="article/1"><link rel="alternate" href="/feed.xml">'
  t.same(read(head(`<base href="/nl/">${twin}`)).twins, [
    { language: 'fr', href: new URL('/nl/article/1', PAGE).href },
  ])
  t.equal(read(head('<base href="javascript:1">')).canonical, 'artikel/1')
})

t.test('canonical links that contradict each other say nothing', async t => {
  const head = (...hrefs: string[]) =>
    `<head>${hrefs.map(href => `<link rel=canonical href="${href}">`).join('')}<meta property="og:url" content="https://www.dagkoerier.example/og"></head>`
  const canonical = (...hrefs: string[]) => read(head(...hrefs)).canonical
  t.equal(canonical('https://x.example/a', 'http://www.x.example/a/'), 'https://x.example/a')
  t.equal(
    canonical('https://x.example/a', 'https://x.example/b'),
    'https://www.dagkoerier.example/og',
  )
  t.equal(canonical('javascript:void(0)'), 'https://www.dagkoerier.example/og')
  t.equal(readMetadata(parsePage(head()), PAGE, '/header').canonical, '/header', 'a Link header')
})
