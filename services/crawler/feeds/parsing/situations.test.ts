import t from 'tap'
import { tryRows } from '#test/examples'
import { readFeed } from './parse.ts'
import TABLE from './situations.json' with { type: 'json' }

/*
 * Feeds and sitemaps as outlets serve them, from public reports of people who read feeds. The name
 * of each test states its source. We wrote the documents ourselves, for an invented outlet.
 */

const HOME = 'https://dagkoerier.example'
const BASE = `${HOME}/rss.xml`
const ONE = `${HOME}/a/1`
const TWO = `${HOME}/a/2`
const ATOM = '<feed xmlns="http://www.w3.org/2005/Atom">'
const entries = (text: string, contentType = 'application/rss+xml') =>
  readFeed({ bytes: Buffer.from(text), contentType, url: BASE })?.named.map(({ entry }) => entry) ??
  null
const rss = (item: string, attributes = '') =>
  `<rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:atom="http://www.w3.org/2005/Atom" ${attributes}><channel><title>De Dagkoerier</title><item>${item}</item></channel></rss>`
const TITLED = `<title>Brug dicht</title><link>${ONE}</link>`
const urls = (text: string, contentType?: string) =>
  entries(text, contentType)?.map(({ url }) => url) ?? null

const [begin = '', end = ''] = rss('|').split('|')
/** What stands for these names in `situations.json`. */
const TEXTS = { home: HOME, one: ONE, two: TWO, rss: begin, end, atom: ATOM }

interface Row {
  text: string
  type?: string | undefined
  /** What is found; null: the text is no feed. */
  urls?: string[] | null | undefined
  entries?: object[] | undefined
  why?: string | undefined
}

tryRows<Row>(t, TABLE, TEXTS, (t, row, about) => {
  const { text, type, urls: named, entries: all, why: _, ...rest } = row
  t.same(rest, {}, about)
  t.notOk(named === undefined && all === undefined, about)
  if (named !== undefined) t.same(urls(text, type), named, about)
  if (all === undefined) return
  const found = entries(text, type)
  t.match(found, all, about)
  t.equal(found?.length, all.length, about)
})

t.test('markup that was escaped once too often is markup (web.dev#5691, Wikia#16871)', async t => {
  const summary = (text: string) =>
    entries(rss(`${TITLED}<description>${text}</description>`))?.[0]?.summary
  const meant = '<p>Al drie weken files aan <b>de brug</b>.</p>'
  const escaped = (text: string) =>
    text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  t.equal(summary(escaped(meant)), meant, 'once, as it should be')
  t.equal(summary(escaped(escaped(meant))), meant, 'twice')
  t.equal(summary(escaped(escaped(escaped(meant)))), meant, 'three times')
  t.equal(summary(`<![CDATA[${escaped(meant)}]]>`), meant, 'in CDATA')
  t.equal(summary(escaped('Jan &amp; Piet &lt; 3')), 'Jan &amp; Piet &lt; 3', 'text')
  t.equal(
    summary(escaped('<p>De tag <code>&lt;p&gt;</code></p>')),
    '<p>De tag <code>&lt;p&gt;</code></p>',
    'about markup',
  )
  const title = (text: string) =>
    entries(rss(`<link>/a/1</link><title>${text}</title>`))?.[0]?.title
  t.equal(title('Caf&amp;amp;eacute; dicht'), 'Caf&eacute; dicht')
  t.equal(title('&amp;lt;em&amp;gt;Brug&amp;lt;/em&amp;gt; dicht'), '<em>Brug</em> dicht')
})

t.test('a desk in author does not hide who wrote (gluttony#6, rss-atom-bundle#86)', async t => {
  const authors = (fields: string) => entries(rss(TITLED + fields))?.[0]?.authors
  const creator = '<dc:creator>Bo De Wit</dc:creator>'
  for (const desk of [
    'noreply@dagkoerier.example (redactie)',
    'redactie@dagkoerier.example',
    'De Dagkoerier',
    'Redactie',
    'Rédaction web',
    'info@dagkoerier.example (De Dagkoerier)',
    'admin',
    'Belga',
  ])
    t.same(authors(`<author>${desk}</author>${creator}`), ['Bo De Wit'], desk)
  for (const [fields, name] of [
    [`<author>jan@dagkoerier.example (Jan Maes)</author>${creator}`, 'Jan Maes'],
    // Where there is nobody else.
    ['<author>redactie@dagkoerier.example (Redactie)</author>', 'Redactie'],
    ['<author>Redactie</author><dc:creator>admin</dc:creator>', 'Redactie'],
    [`<atom:author><atom:name>De Dagkoerier</atom:name></atom:author>${creator}`, 'Bo De Wit'],
  ] as const)
    t.same(authors(fields), [name], fields)
})
t.test(
  'a sitemap whose elements are never closed, or that is cut (crawler-commons#153, #310)',
  async t => {
    const loc = (n: number) => `<loc>https://dagkoerier.example/a/${n}</loc>`
    const all = Array.from({ length: 300 }, (_, n) => `https://dagkoerier.example/a/${n}`)
    const open = (text: (n: number) => string) =>
      urls(`<urlset>${all.map((_, n) => text(n)).join('\n')}\n</urlset>`)
    const unclosed = open(n => `<url>${loc(n)}`)
    t.same(unclosed, all)
    t.same(
      urls(`<urlset><urlset><url>${loc(0)}</url></urlset></urlset>`),
      all.slice(0, 1),
      'usp#86',
    )
    t.same(
      open(n => `<url>${loc(n).replace('</loc>', '')}`),
      all,
      'nor their addresses',
    )
    t.same(
      open(n => (n % 2 ? `<url>${loc(n)}</url>` : `<url>${loc(n)}<lastmod>2026-11-24</lastmod>`)),
      all,
    )
    const bytes = Buffer.from(`<sitemapindex><sitemap>${loc(1)}<sitemap>${loc(2)}`)
    t.equal(readFeed({ bytes, contentType: null, url: BASE })?.parts.length, 2)
    t.same(urls(`<urlset><url>${loc(1)}</url><url><loc>https://dagkoer`), all.slice(1, 2))
    t.same(
      urls(`<rss><channel><item>${TITLED}</item><item><title>Tram</title><link>https://dagkoer`),
      all.slice(1, 2),
    )
    t.same(urls(`<rss><channel><item>${TITLED}`), all.slice(1, 2), 'what was closed before stays')
  },
)

t.test('a JSON Feed out of shape', async t => {
  const item = `"url":"${ONE}","title":"Brug, ]dicht"`
  const feed = (more: string) =>
    `{"version":"https://jsonfeed.org/version/1.1","title":"D","items":[{${item}${more}}]}`
  for (const authors of ['"authors":["Jan Mol","Els Claes"]', '"author":["Jan Mol","Els Claes"]'])
    t.match(entries(feed(`,${authors}`)), [{ authors: ['Jan Mol', 'Els Claes'] }], authors)
  t.match(entries(feed(',"author":"Jan Mol"')), [{ authors: ['Jan Mol'] }])
  for (const text of [
    feed(' , ').replace(']}', ' ,],}'),
    feed('').replace('Brug', 'Brug\t'),
    `<!-- cached -->\n${feed('')}`,
    `\ufeffshow(${feed('')});`,
  ])
    t.match(entries(text), [{ title: /, \]dicht/ }], text)
})
