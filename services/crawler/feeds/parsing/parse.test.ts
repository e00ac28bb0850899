import t from 'tap'
import { tryRows } from '#test/examples'
import { authorName } from './entries.ts'
import TABLE from './parse.json' with { type: 'json' }
import { namedAddresses, parseFeed, readFeed } from './parse.ts'
import { recentEntries } from './sitemaps.ts'

const BASE = 'https://krant.example/rss/feed.xml'

interface Row {
  feed: string
  /** What it names; null: it is no feed. */
  named?: object[] | null | undefined
  /** Other fields that a parsed feed then has. */
  [field: string]: unknown
}

tryRows<Row>(t, TABLE, {}, (t, { feed: text, named, why: _why, ...fields }, about) => {
  const feed = parseFeed(text, BASE)
  const found = feed && namedAddresses(feed, BASE).map(({ entry }) => entry)
  if (named !== undefined) {
    t.match(found, named, about)
    t.equal(found?.length, named?.length, about)
  }
  if (named !== null) t.hasStrict(feed, fields, about)
})

t.test('no run of spaces takes longer than a moment', async t => {
  const spaces = ' '.repeat(1_500_000)
  const feed = parseFeed(
    `<rss><channel><item><link>https://krant.example/a${spaces}b</link></item>
      <item><link>https://krant.example/b</link><author>x${spaces}y</author></item></channel></rss>`,
    BASE,
  )
  t.same(feed && namedAddresses(feed, BASE).map(({ entry }) => entry.url), [
    'https://krant.example/b',
  ])
})

const MEGABYTE = 1_000_000
const hostile: Record<string, string> = {
  'a billion laughs': `<!DOCTYPE rss [<!ENTITY a "${'x'.repeat(100)}">${'bcdefghij'.replace(/./g, (c, at: number) => `<!ENTITY ${c} "${`&${'abcdefghij'[at]};`.repeat(10)}">`)}]><rss><channel><item><title>&j;</title><link>https://krant.example/a</link></item></channel></rss>`,
  'elements in elements': `<rss><channel>${'<item>'.repeat(MEGABYTE)}`,
  'closing tags of nothing': `<rss><channel>${'<a>'.repeat(150)}${'</b>'.repeat(2 * MEGABYTE)}`,
  'one element with a million attributes': `<rss ${'a1 '.repeat(3 * MEGABYTE)}>`,
  'a million namespaces': `<rss><channel>${Array.from({ length: 100_000 }, (_, n) => `<item xmlns:a${n}="u${n}">`).join('')}`,
  'half a million items': `<rss><channel>${'<item><link>a</link></item>'.repeat(MEGABYTE / 3)}</channel></rss>`,
  'comments that never end': `<rss><channel><item><title>${'<!-- '.repeat(2 * MEGABYTE)}`,
  'CDATA that never ends': `<rss><channel><item><title>${'<![CDATA['.repeat(MEGABYTE)}`,
  'ten megabytes of ampersands': `<rss><channel><item><title>${'&'.repeat(10 * MEGABYTE)}</title></item></channel></rss>`,
  'ten megabytes of brackets': '<'.repeat(10 * MEGABYTE),
  'nested JSON': '['.repeat(5 * MEGABYTE),
  'nested JSON in a feed': `{"version":"1","items":${'['.repeat(5 * MEGABYTE)}`,
  'spaces in a name and address': `<rss><channel><item><author>${' '.repeat(MEGABYTE)}x</author><author>${'a@'.repeat(100_000)}</author></item></channel></rss>`,
  'document types': '<!DOCTYPE ['.repeat(MEGABYTE),
  'an xml:base on every level, and links below':
    '<rss xml:base="https://krant.example/"><channel>' +
    `${`<item xml:base="${'x/'.repeat(20)}">`.repeat(190)}${'<link href="a"/>'.repeat(50_000)}</channel></rss>`,
  'namespaces on every level, and more below': `<rss><channel>${Array.from({ length: 190 }, (_, level) => `<item ${Array.from({ length: 39 }, (_, n) => `xmlns:a${level}x${n}="u"`).join(' ')}>`).join('')}${'<b xmlns:c="d"/>'.repeat(100_000)}`,
  'links in texts under a long xml:base': `<rss xml:base="https://krant.example/${'a'.repeat(2_000)}/"><channel><item><link>a</link>${`<description><![CDATA[<${" href='a'".repeat(100_000)}]]></description>`.repeat(3)}</item></channel></rss>`,
  'thousands of authors': `<rss><channel>${`<item><link>https://krant.example/a</link>${`<author>x${' '.repeat(900)}</author>`.repeat(20)}<author>${'x('.repeat(400)}b)</author></item>`.repeat(400)}</channel></rss>`,
  '50,000 addresses': `<urlset>${Array.from({ length: 50_000 }, (_, n) => `<url><loc>https://krant.example/${'x'.repeat(100)}/${n}</loc><lastmod>2026-11-21</lastmod></url>`).join('')}</urlset>`,
}
for (const [name, text] of Object.entries(hostile)) {
  t.test(`${name}: never an error, never a second`, async t => {
    // Processor time, because other programs may use the machine.
    const before = process.cpuUsage()
    const feed = parseFeed(text, BASE)
    if (feed !== null) namedAddresses({ ...feed, entries: recentEntries(feed) }, BASE)
    const { user, system } = process.cpuUsage(before)
    t.ok(user + system < 1_000_000, `${Math.round((user + system) / 1_000)} ms`)
  })
}

t.test('what is kept of a feed does not outgrow it', async t => {
  const names = Array.from({ length: 50 }, () => ({ name: 'x'.repeat(500) }))
  const items = Array.from({ length: 2_000 }, (_, n) => ({ url: `https://krant.example/${n}` }))
  const forms: Record<string, string> = {
    'authors of a whole JSON Feed': JSON.stringify({ version: '1', authors: names, items }),
    'links under a long xml:base': hostile['links in texts under a long xml:base'] ?? '',
  }
  for (const [name, text] of Object.entries(forms)) {
    const feed = parseFeed(text, BASE)
    const kept = JSON.stringify(feed && namedAddresses(feed, BASE)).length
    t.ok(
      kept > 1_000 && kept < 6_000_000,
      `${name}: ${text.length} characters, of which ${kept} are kept`,
    )
  }
})

t.test('names of authors beside their addresses', async t => {
  const written: Record<string, string> = {
    'a@b.example (Els Smit)': 'Els Smit',
    'mailto:a@b.example (Els (en Jan))': 'Els (en Jan)',
    'Els Smit (a@b.example)': 'Els Smit',
    'Els Smit < mailto:a@b.example >': 'Els Smit',
    'Els (redactie) <a@b.example>': 'Els (redactie)',
    'Els Smit (redactie)': 'Els Smit (redactie)',
    'a@b.example': 'a@b.example',
    '(a@b.example)': '(a@b.example)',
  }
  for (const [text, name] of Object.entries(written)) t.equal(authorName(text), name, text)
})

t.test(
  'a feed as it was served: bytes and their type become entries, and anything else none',
  t => {
    const read = (text: string, contentType: string | null) =>
      readFeed({ bytes: Buffer.from(text, 'latin1'), contentType, url: BASE })?.named.map(
        ({ entry }) => entry,
      )
    const feed =
      '<rss><channel><item><title>Caf\u00e9</title><link>/a</link></item></channel></rss>'
    t.match(read(feed, 'application/rss+xml; charset=iso-8859-1'), [
      {
        url: 'https://krant.example/a',
        title: 'Café',
        summary: null,
        content: null,
        authors: [],
        published: null,
      },
    ])
    t.equal(read('<p>no feed</p>', 'text/html'), undefined)
    t.end()
  },
)
