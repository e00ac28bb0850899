import fc from 'fast-check'
import iconv from 'iconv-lite'
import t from 'tap'
import { AGENCY_RULES } from '#shared/articles/agencies'
import { LANGUAGES } from '#shared/articles/article'
import type { StoredPage } from '#shared/outlets/page'
import { CHARACTER } from '#test/characters'
import { ANNOUNCED, ANNOUNCED_AT, INTERSTITIAL_EXAMPLES } from '#test/normaliser/interstitials'
import { feedEntry, jsonLd, storedPage } from '#test/normaliser/pages'
import { type Composition, composeArticle } from './compose.ts'

const NOW = new Date('2026-11-20T12:00:00Z')
const LEAD =
  'De brug over de Schelde in Temse blijft zeker tot vrijdag dicht voor vrachtwagens van meer dan 3,5 ton.'
const SECOND =
  'Dat heeft het agentschap Wegen en Verkeer dinsdag bekendgemaakt na een inspectie van de pijlers onder het wegdek.'
const THIRD =
  'Vrachtwagens moeten omrijden via de tunnel onder de Schelde bij Antwerpen, wat drie kwartier langer duurt.'

const ENTRY = feedEntry({
  url: ANNOUNCED_AT,
  guid: '4711',
  title: ANNOUNCED,
  summary: `<p>${LEAD}</p>`,
  published: 'Tue, 17 Nov 2026 09:30:00 +0100',
  language: 'nl-BE',
})
const PAGE = storedPage(markup(LEAD, SECOND, THIRD), { url: ANNOUNCED_AT, entry: ENTRY })

function markup(...paragraphs: string[]): string {
  const text = paragraphs.map(paragraph => `<p>${paragraph}</p>`).join('')
  return `<!doctype html><html lang="nl"><head><meta charset="utf-8"><title>${ANNOUNCED} | De Dagkoerier</title></head>
<body><nav><a href="/">Voorpagina</a> <a href="/sport">Sport</a></nav>
<article><h1>${ANNOUNCED}</h1><p class="byline">Door Jan Peeters</p>${text}</article>
<aside><h2>Lees ook</h2><a href="/ander">Een heel ander artikel over iets anders</a></aside></body></html>`
}

const compose = (changes: Partial<StoredPage> = {}, options = {}) =>
  composeArticle({ ...PAGE, ...changes }, NOW, options)

function articleOf(composition: Composition) {
  if (composition.kind !== 'article') throw new Error(`refused: ${composition.detail}`)
  return composition.article
}

t.test('a page and its feed entry become an article', async t => {
  const composition = await compose()
  t.equal(composition.interstitial, null)
  const { addresses, ...article } = articleOf(composition)
  t.strictSame(article, {
    title: ANNOUNCED,
    body: [LEAD, SECOND, THIRD].join('\n\n'),
    url: ANNOUNCED_AT,
    authors: ['Jan Peeters'],
    language: 'nl',
    country: 'BE',
    outlet: { name: 'De Dagkoerier', domain: 'dagkoerier.example' },
    publishedAt: new Date('2026-11-17T08:30:00Z'),
    agencies: [],
    agencyRules: AGENCY_RULES,
    stated: { section: null, kind: null, access: null },
  })
})

t.test(
  'decision 33: the body is the page’s, else the feed’s full content, else its summary',
  async t => {
    const entry = { ...ENTRY, content: `<p>${SECOND}</p><p>${THIRD}</p>` }
    t.equal(articleOf(await compose({ entry })).body, [LEAD, SECOND, THIRD].join('\n\n'))
    const empty = { body: Buffer.from('<html><body></body></html>') }
    t.equal(articleOf(await compose({ ...empty, entry })).body, `${SECOND}\n\n${THIRD}`)
    t.equal(articleOf(await compose(empty)).body, LEAD)
    t.equal(articleOf(await compose({ ...empty, entry: { ...ENTRY, summary: null } })).body, null)
  },
)

t.test(
  'a page that the outlet refuses (401, 403, 451) becomes an article from its feed alone',
  async t => {
    for (const status of [401, 403, 451]) {
      const composition = await compose({ status, body: null, contentType: null })
      t.equal(composition.interstitial, 'forbidden')
      t.equal(articleOf(composition).body, LEAD)
    }
  },
)

t.test('a text served under many addresses is not the article’s: the feed’s words are', async t => {
  const composition = await compose({}, { repeated: true })
  t.equal(composition.interstitial, 'repeated text')
  t.equal(articleOf(composition).body, LEAD)
})

t.test('a feed’s words count for its own outlet’s addresses, whichever host answers', async t => {
  const wall = { finalUrl: 'https://consent.uitgever.example/vraag', foreign: 'answered' as const }
  const asks =
    '<html><head><title>Privacy</title></head><body><p>Accepteer alle cookies.</p></body></html>'
  const kept = articleOf(await compose({ ...wall, body: Buffer.from(asks) }))
  t.same(
    [kept.url, kept.title, kept.body],
    [ANNOUNCED_AT, ANNOUNCED, LEAD],
    'the consent page of a publisher',
  )
  t.equal(articleOf(await compose({ ...wall, status: 403, body: null })).url, ANNOUNCED_AT)
  const guest = 'https://gast.example/artikel/brug-over-de-schelde-dicht'
  const invented = { ...ENTRY, title: 'Verzonnen', summary: 'Verzonnen tekst', published: null }
  const shown = articleOf(await compose({ finalUrl: guest, foreign: 'answered', entry: invented }))
  t.same(
    [shown.url, shown.title],
    [guest, `${ANNOUNCED}`],
    'an article on a foreign host says itself what it is',
  )
})

t.test('an address on a foreign host that is merely named is no article’s', async t => {
  const named = 'https://grote-krant.example/redirect/brug-over-de-schelde'
  for (const foreign of ['named', 'both'] as const) {
    const { url, addresses } = articleOf(
      await compose({ url: named, finalUrl: 'https://boos.example/tekst', foreign }),
    )
    t.equal(url, 'https://boos.example/tekst', foreign)
    const isForeign = addresses.some(address => address.includes('grote-krant'))
    t.notOk(isForeign, foreign)
  }
  const short = { url: 'https://kort.example/x1', foreign: 'named' as const }
  const blocked = { ...short, finalUrl: ANNOUNCED_AT, status: 403, body: null }
  t.equal(
    articleOf(await compose(blocked)).url,
    ANNOUNCED_AT,
    'a short address of a page that is refused',
  )
  const asks =
    '<html><head><title>Just a moment...</title></head><body><p>Checking your browser</p></body></html>'
  const challenged = articleOf(await compose({ ...blocked, status: 200, body: Buffer.from(asks) }))
  t.same(
    [challenged.url, challenged.title],
    [ANNOUNCED_AT, ANNOUNCED],
    'a challenge under its address',
  )
  const root = { ...short, finalUrl: 'https://dagkoerier.example/' }
  for (const answer of [root, { ...root, status: 403, body: null }])
    t.match(await compose(answer), { kind: 'refused', reason: 'not-an-article' })
})

t.test('without a title from page or feed there is no article', async t => {
  const composition = await compose({ status: 403, body: null, entry: { ...ENTRY, title: null } })
  t.match(composition, { kind: 'refused', reason: 'no-title' })
  t.match(await compose({ status: 403, body: null, entry: null }), {
    kind: 'refused',
    reason: 'no-title',
  })
})

for (const { name, kind, html, finalUrl, says } of INTERSTITIAL_EXAMPLES) {
  t.test(`${name} leaves the body to the feed, and nothing of itself`, async t => {
    const changes = { body: Buffer.from(html), ...(finalUrl === undefined ? {} : { finalUrl }) }
    const composition = await compose(changes)
    t.equal(composition.interstitial, kind)
    const article = articleOf(composition)
    t.equal(article.body, LEAD)
    t.equal(article.title, ANNOUNCED)
    t.equal(article.url, ANNOUNCED_AT)
    const silent = articleOf(await compose({ ...changes, entry: { ...ENTRY, summary: null } }))
    t.equal(silent.body, null)
    const alone = await compose({ ...changes, entry: { ...ENTRY, title: null, summary: null } })
    if (alone.kind === 'article') t.notOk(alone.article.body?.includes(says))
    if (kind !== 'error page' || finalUrl !== undefined) return
    const misnamed = await compose({ ...changes, entry: { ...ENTRY, title: 'Liveblog' } })
    t.equal(misnamed.interstitial, kind, 'whatever the feed calls it')
  })
}

t.test('where header and bytes disagree, the text that reads wins', async t => {
  const said =
    'Eén café in Zoëzele hield déjà vu’s tegoed, want de cafébazin vond dat naïef klinken, zei ze dinsdag.'
  const body = iconv.encode(
    markup(said, SECOND, THIRD).replace('<meta charset="utf-8">', ''),
    'windows-1252',
  )
  for (const contentType of ['text/html; charset=utf-8', null])
    t.match(articleOf(await compose({ body, contentType })).body, said)
})

t.test(
  'a page that only its scripts fill has its text from JSON-LD, unless it is for those who pay',
  async t => {
    const data = (isAccessibleForFree: boolean) => {
      const articleBody = `${LEAD}\n\n${SECOND}\n\n${THIRD}`
      const stated = jsonLd({
        '@type': 'NewsArticle',
        headline: ANNOUNCED,
        isAccessibleForFree,
        articleBody,
      })
      return Buffer.from(
        `<html><head><title>${ANNOUNCED}</title>${stated}</head><body><div id="root"></div></body></html>`,
      )
    }
    t.equal(articleOf(await compose({ body: data(true) })).body, [LEAD, SECOND, THIRD].join('\n\n'))
    t.equal(articleOf(await compose({ body: data(false) })).body, LEAD)
  },
)

t.test('a film or a document becomes an article from its feed', async t => {
  const body = Buffer.from('%PDF-1.7\n%âãÏÓ\n1 0 obj')
  t.equal(articleOf(await compose({ body, contentType: 'application/pdf' })).body, LEAD)
})

/** Pieces of pages, and pieces that no real page has. */
const PIECES = [markup(LEAD), ...INTERSTITIAL_EXAMPLES.map(({ html }) => html)]
  .flatMap(html => html.split(/(?=[<{"&])|(?<=[>}])/))
  .concat(
    '<!--',
    '-->',
    '<svg>',
    '<frameset>',
    '<table>',
    '&#x110000;',
    '\u0000',
    '\ud83d',
    '<p class="author">',
  )

t.test('any page and any entry of a feed give an article or a reason', async t => {
  const text = fc.oneof(
    fc.string({ unit: CHARACTER, maxLength: 60 }),
    fc.constantFrom(ANNOUNCED, LEAD, ...PIECES),
  )
  // The parser of feeds makes all texts of an entry well-formed.
  const told = text.map(one => one.toWellFormed())
  const page = fc.record({
    pieces: fc.array(text, { maxLength: 40 }),
    author: told,
    title: told,
    summary: told,
  })
  const isWhole = (words: string) => words.isWellFormed() && !words.includes('\u0000')
  await fc.assert(
    fc.asyncProperty(page, async ({ pieces, author, title, summary }) => {
      const head = jsonLd({
        '@type': 'NewsArticle',
        headline: ANNOUNCED,
        author,
        datePublished: title,
      })
      const entry = feedEntry({ title, summary, authors: [author], published: summary })
      const composition = await compose({
        body: Buffer.from(`<html>${head}${pieces.join('')}`),
        entry,
      })
      if (composition.kind === 'refused') return composition.detail !== ''
      const { article } = composition
      return (
        LANGUAGES.includes(article.language) && [article.title, article.body ?? ''].every(isWhole)
      )
    }),
    { numRuns: 150 },
  )
  t.pass('nothing was thrown')
})

t.test(
  'behind a paywall, paragraphs that are hidden or in no language are not the article’s',
  async t => {
    const veil = '<p class="blur-md select-none">'
    const others = [
      `${veil}${THIRD}</p>`,
      '<p>Wsbdiuxbhfot npfufo pnsjkefo wjb ef uvoofm poefs ef Tdifmef, xbu esjf lxbsujfs mbohfs evvsu.</p>',
      '<p>Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor incididunt.</p>',
    ]
    const results =
      '<p>Gent – Genk 2-1, Cercle – Club 0-0, Union – Standard 3-2, Leuven – Antwerp 1-1, Mechelen – Charleroi 0-4.</p>'
    for (const free of [false, true]) {
      const inside = `<p>${LEAD}</p><p>${SECOND}</p>${results}${others.join('')}`
      const html = `<html lang="nl"><head>${jsonLd({ '@type': 'NewsArticle', headline: ANNOUNCED, isAccessibleForFree: free })}</head><body><article><h1>${ANNOUNCED}</h1>${inside}</article></body></html>`
      const { body } = articleOf(await compose({ body: Buffer.from(html) }))
      t.equal(body?.split('\n\n').length, free ? 6 : 3, `free: ${free}`)
    }
  },
)
