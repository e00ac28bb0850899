import t from 'tap'
import { authorName } from './entries.ts'
import { namedAddresses, parseFeed, readFeed } from './parse.ts'
import { recentEntries } from './sitemaps.ts'

const BASE = 'https://krant.example/rss/feed.xml'

t.test('RSS 0.91, 2.0, 1.0, Atom 0.3, 1.0 and JSON Feed say the same', async t => {
  const forms: Record<string, string> = {
    'rss 0.91': `<rss version="0.91"><channel><language>nl</language><item><title>Brug open</title><link>/a</link><description>Kort</description></item></channel></rss>`,
    'rss 2.0': `<?xml version="1.0"?><rss version="2.0"><channel><language>nl</language><item><title>Brug open</title><link>https://krant.example/a</link><description>Kort</description></item></channel></rss>`,
    rdf: `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/"><channel rdf:about="x"><dc:language>nl</dc:language></channel><item rdf:about="/a"><title>Brug open</title><link>/a</link><description>Kort</description></item></rdf:RDF>`,
    'atom 0.3': `<feed version="0.3" xmlns="http://purl.org/atom/ns#" xml:lang="nl"><entry><title>Brug open</title><link rel="alternate" href="/a"/><summary>Kort</summary></entry></feed>`,
    'atom 1.0': `<a:feed xmlns:a="http://www.w3.org/2005/Atom" xml:lang="nl"><a:entry><a:title>Brug open</a:title><a:link rel="self" href="/self"/><a:link href="../a"/><a:summary>Kort</a:summary></a:entry></a:feed>`,
    json: `{"version":"https://jsonfeed.org/version/1.1","language":"nl","items":[{"id":1,"url":"/a","title":"Brug open","summary":"Kort"}]}`,
  }
  for (const [name, text] of Object.entries(forms)) {
    const feed = parseFeed(text, BASE)
    t.match(
      feed && namedAddresses(feed, BASE).map(({ entry }) => entry),
      [
        {
          url: 'https://krant.example/a',
          title: 'Brug open',
          summary: 'Kort',
          language: 'nl',
          content: null,
        },
      ],
      name,
    )
  }
})

t.test('fields are found under all their names', async t => {
  const feed = parseFeed(
    `<rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:e="http://purl.org/rss/1.0/modules/content/" xmlns:f="http://rssnamespace.org/feedburner/ext/1.0"><channel>
      <item><guid isPermaLink="false">42</guid><title><![CDATA[A & <b>B</b>]]></title><link>https://feeds.example/~r/1</link>
        <f:origLink>https://krant.example/1</f:origLink><dc:creator>An Peeters</dc:creator><dc:creator>Jan</dc:creator>
        <e:encoded><![CDATA[<p>Lang</p>]]></e:encoded><pubDate>za, 21 nov 2026 08:00:00 +0100</pubDate></item>
      <item><guid>https://krant.example/2</guid><title>x &amp;amp; &eacute;</title><author>a@b.example (Els Smit)</author><dc:date>2026-11-21</dc:date></item>
      <item><title>no address at all</title></item>
      <item><title>nobody’s article</title><link>javascript:alert(1)</link></item>
    </channel></rss>`,
    BASE,
  )
  t.match(feed && namedAddresses(feed, BASE).map(({ entry }) => entry), [
    {
      url: 'https://krant.example/1',
      guid: '42',
      title: 'A & <b>B</b>',
      content: '<p>Lang</p>',
      authors: ['An Peeters', 'Jan'],
      published: 'za, 21 nov 2026 08:00:00 +0100',
    },
    {
      url: 'https://krant.example/2',
      title: 'x &amp; é',
      authors: ['Els Smit'],
      published: '2026-11-21',
    },
  ])
  t.equal(feed?.whole, true)
})

t.test('what a feed says of its licence is told', async t => {
  const said = (head: string, root = 'rss') =>
    parseFeed(`<${root}><channel>${head}</channel></${root}>`, BASE)?.licence
  const cc = 'https://creativecommons.org/licenses/by/4.0/'
  for (const head of [
    `<creativeCommons:license>${cc}</creativeCommons:license>`,
    `<cc:license rdf:resource="${cc}"/><dc:rights>Alles</dc:rights>`,
    `<atom:link rel="license" href="${cc}"/>`,
  ])
    t.equal(said(head), cc, head)
  t.match(said('<item><rsl:content url="/a"><rsl:license/></rsl:content></item>'), /^RSL/)
  t.equal(
    said(
      '<copyright>2026</copyright><dc:rights>Alle rechten</dc:rights><atom:link rel="self" href="/f"/>',
    ),
    null,
  )
  t.equal(
    parseFeed(`<feed><link rel="license" href="${cc}"/><rights>x</rights></feed>`, BASE)?.licence,
    cc,
  )
})

t.test('white space in a link: a line break is none of it, a space between words is', async t => {
  const feed = parseFeed(
    `<rss><channel><item><link>
      https://krant.example/
      lang/adres
    </link></item><item><link> https://krant.example/twee woorden.html </link></item></channel></rss>`,
    BASE,
  )
  t.same(feed && namedAddresses(feed, BASE).map(({ entry }) => entry.url), [
    'https://krant.example/lang/adres',
    'https://krant.example/twee%20woorden.html',
  ])
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

t.test('what is broken is read as far as it goes', async t => {
  const item = '<item><title>A</title><link>https://krant.example/a</link></item>'
  const broken: Record<string, [string, boolean]> = {
    'text before the declaration': [
      `\n\n Warning: x <?xml version="1.0"?><rss><channel>${item}</channel></rss>`,
      true,
    ],
    'cut in an element': [`<rss><channel>${item}<item><title>B`, false],
    'cut in CDATA': [`<rss><channel>${item}<item><title><![CDATA[B`, false],
    'a bare ampersand': [
      `<rss><channel><item><title>A</title><link>https://krant.example/a?x=1&copy=2</link></item></channel></rss>`,
      true,
    ],
    'an item that is not closed': [
      `<rss><channel><item><title>A</title><link>https://krant.example/a</link><item><title>C</title><link>https://krant.example/c</link></item></channel></rss>`,
      true,
    ],
    'a wrong closing tag': [
      `<rss><channel>${item.replace('</title>', '</titel></title>')}</channel></rss>`,
      true,
    ],
    'an entity declared in it': [
      `<!DOCTYPE rss [<!ENTITY x "y">]><rss><channel>${item}</channel></rss>`,
      true,
    ],
    'HTML that is not closed': [
      `<rss><channel>${item.replace('</item>', '<description><p>a<br>b</description></item>')}</channel></rss>`,
      true,
    ],
  }
  for (const [name, [text, whole]] of Object.entries(broken)) {
    const feed = parseFeed(text, BASE)
    t.ok(
      feed &&
        namedAddresses(feed, BASE).some(({ entry }) =>
          entry.url.startsWith('https://krant.example/a'),
        ),
      name,
    )
    t.equal(feed?.whole, whole, name)
  }
  t.equal(
    parseFeed(
      '<rss><channel><item><link>https://krant.example/a?x=1&copy=2</link></item></channel></rss>',
      BASE,
    )?.entries[0]?.link,
    'https://krant.example/a?x=1&copy=2',
  )
})

t.test('what is no feed is none', async t => {
  for (const text of [
    '',
    'x',
    '<html><body><p>Niet gevonden</p></body></html>',
    '{"error": 404}',
    '[]',
    '<xml/>',
    'null',
    '{"items": 3}',
  ]) {
    t.equal(parseFeed(text, BASE), null, text)
  }
})

t.test('the next page of a feed in pages, in every format', t => {
  const wanted = 'https://krant.example/rss/feed.xml?page=2'
  const links = (name: string) =>
    [
      ['self', 'self.xml'],
      ['next', 'mailto:feed@krant.example'],
      ['NEXT', 'https://user:secret@krant.example/rss/feed.xml?page=2#x'],
      ['next', '?page=3'],
      ['alternate', '/'],
    ]
      .map(([rel, href]) => `<${name} rel="${rel}" href="${href}"/>`)
      .join('')
  const atom = 'xmlns:a="http://www.w3.org/2005/Atom"'
  const entry = '<entry><link rel="next" href="/wrong"/><id>https://krant.example/a</id></entry>'
  t.equal(
    parseFeed(`<feed xmlns="http://www.w3.org/2005/Atom">${links('link')}${entry}</feed>`, BASE)
      ?.next,
    wanted,
  )
  t.equal(
    parseFeed(`<rss ${atom}><channel><link>/</link>${links('a:link')}</channel></rss>`, BASE)?.next,
    wanted,
  )
  const json = { version: 'https://jsonfeed.org/version/1.1', next_url: '?page=2', items: [] }
  t.equal(parseFeed(JSON.stringify(json), BASE)?.next, wanted)
  t.equal(parseFeed('<rss><channel/></rss>', BASE)?.next, null)
  t.end()
})

t.test(
  'a sitemap by language: other languages of an address are named too, after all that it lists',
  t => {
    const link = (language: string, href: string) =>
      `<xhtml:link rel="alternate" hreflang="${language}" href="https://${href}"/>`
    const feed = parseFeed(
      `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml">
      <url><loc>https://krant.example/nl/a</loc><lastmod>2026-11-21</lastmod>${[
        link('nl', 'krant.example/nl/a'),
        link('fr-BE', 'fr.krant.example/a'),
        link('de', 'krant.example/de/a'),
        link('x-default', 'krant.example/a'),
        link('es', 'krant.example/es/a'),
        link('en', 'elsewhere.example/a'),
        link('fr', 'krant.example/fr/b'),
      ].join('')}</url>
      <url><loc>https://krant.example/fr/b</loc></url></urlset>`,
      BASE,
    )
    t.equal(feed?.format, 'sitemap')
    t.same(
      feed?.entries.map(({ link: named, language, modified, published }) => [
        named,
        language,
        modified,
        published,
      ]),
      [
        ['https://krant.example/nl/a', 'nl', '2026-11-21', null],
        ['https://krant.example/fr/b', null, null, null],
        ['https://fr.krant.example/a', 'fr-be', '2026-11-21', null],
        ['https://krant.example/de/a', 'de', '2026-11-21', null],
      ],
    )
    t.end()
  },
)

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

t.test('links are read against the xml:base around them', async t => {
  const feed = parseFeed(
    `<feed xmlns="http://www.w3.org/2005/Atom" xml:base="https://krant.example/nieuws/"><entry xml:base="sport/"><link href="1"/><title type="html">a</title><content type="html">&lt;a href="2">b&lt;/a></content></entry><entry><link href="/2"/></entry></feed>`,
    BASE,
  )
  t.match(feed && namedAddresses(feed, BASE).map(({ entry }) => entry), [
    {
      url: 'https://krant.example/nieuws/sport/1',
      content: '<a href="https://krant.example/nieuws/sport/2">b</a>',
    },
    { url: 'https://krant.example/2' },
  ])
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

t.test('an address with a name and a password is kept without them', async t => {
  const feed = parseFeed(
    '<rss><channel><item><link>https://u:p@krant.example/a</link></item></channel></rss>',
    BASE,
  )
  t.match(feed && namedAddresses(feed, BASE), [{ entry: { url: 'https://krant.example/a' } }])
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
