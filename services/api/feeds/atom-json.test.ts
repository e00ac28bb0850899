import fc from 'fast-check'
import { parseAtomFeed, parseJsonFeed } from 'feedsmith'
import t from 'tap'
import type { ArticleRow } from '#search/index'
import { SHOWN_ARTICLES } from '#services/api/articles/shown-article'
import { CHARACTER } from '#test/characters'
import { ROW as PLAIN } from '#test/contract/rows'
import { otherFormat } from './atom-json.ts'

const IDENTITY = {
  serviceName: 'Nieuws & <Co>',
  publicUrl: 'https://news.example',
  namespace: 'https://perscope.example/ns/feed/1',
}
const ROW: ArticleRow = {
  ...PLAIN,
  url: 'https://dagkoerier.example/brug?a=1&b=2',
  outlet: { name: 'De <Dag>koerier & Zn', domain: 'dagkoerier.example' },
}
const PAGE = 'https://news.example/?q=brug&country=NL&search_in=title'

let rests = 0
/** A pace by which work rests at each occasion. */
const PACE = {
  isDue: () => true,
  async rest() {
    rests++
  },
}

async function feed(
  format: 'atom' | 'json',
  rows: Partial<ArticleRow>[],
  title = 'Bruggen',
  search = 'q=brug&country=NL',
) {
  const articles = rows.map(row => ({ ...SHOWN_ARTICLES.make({ ...ROW, ...row }), relevance: 0.5 }))
  const content = otherFormat(format, IDENTITY, { title, search, articles }, work => work(PACE))
  return { ...content, text: String(await content.body(content.untagged())) }
}

t.test('Atom holds what the article object holds', async t => {
  const { text, contentType } = await feed('atom', [
    {},
    { authors: [] },
    { authors: ROW.authors.slice(1) },
  ])
  t.equal(contentType, 'application/atom+xml; charset=utf-8')
  t.match(text, /^<\?xml version="1.0"/)
  t.match(parseAtomFeed(text), {
    id: PAGE,
    title: { value: 'Bruggen' },
    updated: '2026-11-20T08:00:00.500Z',
    authors: [{ name: 'Nieuws & <Co>' }],
    links: [{ rel: 'alternate', href: PAGE }],
    entries: [
      {
        id: 'urn:perscope:a1b2c3',
        title: { value: 'Nieuwe brug geopend', type: 'html' },
        links: [{ href: ROW.url }],
        published: '2026-11-20T08:00:00.500Z',
        authors: [{ name: 'Anna de Wit' }, { name: 'Zoë Müller' }],
        summary: { value: 'De brug &lt;b&gt;is&lt;/b&gt; open.', type: 'html' },
        categories: [
          {
            term: 'dagkoerier.example',
            scheme: `${IDENTITY.namespace}#outlet`,
            label: 'De ＜Dag>koerier & Zn',
          },
          { term: 'NL', scheme: `${IDENTITY.namespace}#country` },
        ],
      },
      { authors: [{ name: 'De <Dag>koerier & Zn' }] },
      { authors: [{ name: 'Zoë Müller' }] },
    ],
  })
})

t.test('JSON Feed holds what the article object holds', async t => {
  const { text, contentType } = await feed('json', [{}, { authors: ROW.authors.slice(1) }])
  t.equal(contentType, 'application/feed+json; charset=utf-8')
  t.match(parseJsonFeed(JSON.parse(text)), {
    title: 'Bruggen',
    home_page_url: PAGE,
    authors: undefined,
  })
  t.match(JSON.parse(text).items, [
    {
      id: 'a1b2c3',
      url: ROW.url,
      title: 'Nieuwe brug geopend',
      content_html: 'De brug &lt;b&gt;is&lt;/b&gt; open.',
      date_published: '2026-11-20T08:00:00.500Z',
      author: { name: 'Anna de Wit, Zoë Müller' },
      _perscope: { outlet: ROW.outlet, country: 'NL', language: 'nl', relevance: 0.5 },
    },
    { author: { name: 'Zoë Müller' } },
  ])
})

t.test('what is null is left out, and a feed without articles stays the same', async t => {
  const bare = {
    publishedAt: null,
    authors: [],
    snippet: null,
    outlet: { name: null, domain: null },
  }
  const [entry] = parseAtomFeed((await feed('atom', [bare])).text).entries ?? []
  t.match(entry, { updated: '2026-11-20T09:00:00.000Z', categories: [{ term: 'NL' }] })
  for (const name of ['published', 'authors', 'summary'])
    t.notOk(Object.hasOwn(entry ?? {}, name), name)
  const [item] = JSON.parse((await feed('json', [bare])).text).items
  t.equal(item.content_html, '', 'JSON Feed requires it')
  for (const name of ['date_published', 'author']) t.notOk(name in item, name)
  t.match(parseAtomFeed((await feed('atom', [])).text), { updated: '1970-01-01T00:00:00.000Z' })
})

t.test('a cut snippet ends after a whole word, and says so', async t => {
  const cut = [{ snippet: `${'woord '.repeat(33)}wo` }]
  t.match((await feed('atom', cut)).text, /woord\u00A0…[<\]]/)
  t.match(JSON.parse((await feed('json', cut)).text).items[0].content_html, /woord\u00A0…$/)
})

t.test('whatever texts hold, both formats parse and give them back', async t => {
  const text = fc.string({ unit: CHARACTER, maxLength: 60 })
  const kept = (raw: string) =>
    raw.replace(/[^\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '')
  const read = (html = '') =>
    html.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')
  const flat = (raw: string) => kept(raw).replace(/\r\n?/g, '\n').trim()
  await fc.assert(
    fc.asyncProperty(text, text, text, async (title, name, snippet) => {
      const row = { title, snippet, authors: [{ id: 'p', name }], outlet: { name, domain: name } }
      const [entry] = parseAtomFeed((await feed('atom', [row], title)).text).entries ?? []
      t.equal(entry?.links?.[0]?.href, ROW.url)
      t.equal(read(entry?.title?.value).trim(), flat(title))
      const json = JSON.parse((await feed('json', [row], title)).text)
      t.same([json.title, json.items[0].title], [kept(title), kept(title) || undefined])
    }),
    { numRuns: 300 },
  )
  const [entry] =
    parseAtomFeed((await feed('atom', [{ title: ']]> &amp; <i>A & B</i>' }])).text).entries ?? []
  t.equal(read(entry?.title?.value), ']]> &amp; <i>A & B</i>')
})

t.test('other keys have their turn after each article', async t => {
  for (const format of ['atom', 'json'] as const) {
    rests = 0
    await feed(format, [{}, {}, {}])
    t.equal(rests, 3, format)
  }
})
