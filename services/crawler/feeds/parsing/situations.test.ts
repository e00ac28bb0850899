import t from 'tap'
import { readFeed } from './parse.ts'

/*
 * Feeds and sitemaps as outlets serve them, from public reports of people who read feeds. The name
 * of each test states its source. We wrote the documents ourselves, for an invented outlet.
 */

const HOME = 'https://dagkoerier.example'
const BASE = `${HOME}/rss.xml`
const ONE = `${HOME}/a/1`
const TWO = `${HOME}/a/2`
const GUID = `<guid>${ONE}</guid>`
const ATOM = '<feed xmlns="http://www.w3.org/2005/Atom">'
const entries = (text: string, contentType = 'application/rss+xml') =>
  readFeed({ bytes: Buffer.from(text), contentType, url: BASE })?.named.map(({ entry }) => entry) ??
  null
const rss = (item: string, attributes = '') =>
  `<rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:atom="http://www.w3.org/2005/Atom" ${attributes}><channel><title>De Dagkoerier</title><item>${item}</item></channel></rss>`
const TITLED = `<title>Brug dicht</title><link>${ONE}</link>`
const urls = (text: string, contentType?: string) =>
  entries(text, contentType)?.map(({ url }) => url) ?? null

t.test(
  'a known namespace as the default one is the format’s own (newsboat#1086, #1108)',
  async t => {
    for (const namespace of [
      'http://www.w3.org/2005/Atom',
      'http://search.yahoo.com/mrss/',
      'http://purl.org/rss/1.0/modules/content/',
      'http://www.itunes.com/dtds/podcast-1.0.dtd',
      'http://www.w3.org/1999/xhtml',
      'http://purl.org/dc/elements/1.1/',
    ]) {
      t.match(entries(rss(TITLED, `xmlns="${namespace}"`)), [{ title: 'Brug dicht' }], namespace)
      t.match(
        entries(
          `<rss><channel xmlns="${namespace}"><item xmlns="${namespace}">${TITLED}</item></channel></rss>`,
        ),
        [{ title: 'Brug dicht', url: ONE }],
        `${namespace} below the top`,
      )
      t.same(urls(`<urlset xmlns="${namespace}"><url><loc>${ONE}</loc></url></urlset>`), [ONE])
    }
    const news = 'http://www.google.com/schemas/sitemap-news/0.9'
    t.match(
      entries(
        `<urlset xmlns="${news}"><url><loc>${ONE}</loc><news><title>Brug dicht</title></news></url></urlset>`,
      ),
      [{ title: 'Brug dicht' }],
    )
    t.match(
      entries(
        rss(`${TITLED}<encoded xmlns="http://purl.org/rss/1.0/modules/content/">Tekst</encoded>`),
      ),
      [{ content: 'Tekst' }],
      'a module’s own element may declare it',
    )
    t.match(
      entries(
        '<feed xmlns="http://search.yahoo.com/mrss/"><entry><title>Brug dicht</title><link href="/a/1"/></entry></feed>',
      ),
      [{ title: 'Brug dicht', url: ONE }],
    )
  },
)

t.test('a sitemap may be a text file (crawler-commons#143; sitemaps.org, "Text file")', async t => {
  const two = [ONE, TWO]
  for (const [text, why] of [
    [two.join('\n'), 'lines'],
    [`\ufeff${two.join('\r\n')}\r\n`, 'byte-order mark, Windows lines'],
    [`\n\n  ${two.join('  \n\n')}\n# end`, 'white space and a comment'],
    [`${two[0]}\n${two[0]}\n${two[1]}`, 'an address twice'],
    [`${two.join('\n')}\nnot an address`, 'a line that is none'],
  ] as const)
    t.same(urls(text, 'text/plain; charset=utf-8'), two, why)
  t.same(
    urls(Buffer.from(`\ufeff${two[0]}\n${two[1]}`, 'utf16le').toString('latin1')),
    null,
    'garbage',
  )
  for (const text of [
    'https://dagkoerier.example/a/1 is onze nieuwe pagina\nen meer woorden\nop elke regel',
    'Sitemap: https://dagkoerier.example/s.xml',
    'ftp://dagkoerier.example/a/1',
    'Nieuws\nhttps://dagkoerier.example/a/1',
  ])
    t.equal(urls(text, 'text/plain'), null, text)
})

t.test('a link that is no address gives way to the permalink (MOFA#24)', async t => {
  for (const link of [
    'N/A',
    'n/a',
    'null',
    'undefined',
    '-',
    '#',
    '',
    'http://',
    'none',
    'javascript:void(0)',
    '[link]',
  ])
    t.same(urls(rss(`<link>${link}</link>${GUID}`)), [ONE], link)
  for (const [item, ...found] of [
    [`<link>nieuws/brug</link>${GUID}`, ONE],
    ['<link>N/A</link><guid isPermaLink="false">17</guid>'],
    ['<link>nieuws/brug</link>', `${HOME}/nieuws/brug`],
    [`<link>/nieuws/brug</link>${GUID}`, `${HOME}/nieuws/brug`],
    ['<link>www.dagkoerier.example/a/1</link>', 'https://www.dagkoerier.example/a/1'],
    [`<link>http://</link><link>${TWO}</link>${GUID}`, TWO],
  ])
    t.same(urls(rss(`<title>x</title>${item}`)), found, String(item))
  const json = (item: object) =>
    JSON.stringify({ version: 'https://jsonfeed.org/version/1.1', items: [item] })
  t.same(urls(json({ url: 'N/A', id: ONE })), [ONE])
  t.same(urls(json({ id: ONE, external_url: 'https://elders.example/b' })), [ONE])
})

t.test('an attached file is not the article (podcasts and picture feeds)', async t => {
  const file = `${ONE}.mp3`
  const enclosure = `<enclosure url="${file}" type="audio/mpeg"/>`
  for (const [item, found] of [
    [`<link>${file}</link>${GUID}${enclosure}`, ONE],
    [`${GUID}<link rel="enclosure" href="${file}"/>`, ONE],
    [`<link>${ONE}</link><link rel="enclosure" href="${file}"/>`, ONE],
    [`<link>${file}</link>${enclosure}`, file], // there is nothing else
  ] as const)
    t.same(urls(rss(`<title>x</title>${item}`)), [found], item)
  const atom = (fields: string) => urls(`${ATOM}<entry><title>x</title>${fields}</entry></feed>`)
  t.same(
    atom(
      `<link href="${file}" type="audio/mpeg"/><link rel="alternate" type="text/html" href="/a/1"/>`,
    ),
    [ONE],
  )
  t.same(atom(`<id>${ONE}</id><link rel="alternate" type="image/jpeg" href="/1.jpg"/>`), [ONE])
})

t.test('a CDATA section that was escaped is one (feedparser#440)', async t => {
  for (const [open, close] of [
    ['&lt;![CDATA[', ']]&gt;'],
    ['&amp;lt;![CDATA[', ']]&amp;gt;'],
    ['<![CDATA[<![CDATA[', ']]]]><![CDATA[>]]>'],
    ['&lt;![CDATA[ ', ' ]]&gt;'],
  ] as const)
    t.match(
      entries(
        rss(
          `<link>/a/1</link><title>${open}Brug dicht${close}</title><description>${open}Al drie weken files.${close}</description><dc:creator>${open}Bo De Wit${close}</dc:creator>`,
        ),
      ),
      [{ title: 'Brug dicht', summary: 'Al drie weken files.', authors: ['Bo De Wit'] }],
      open,
    )
  t.match(entries(rss('<link>/a/1</link><title>Wat is &lt;![CDATA[ in XML?</title>')), [
    { title: 'Wat is <![CDATA[ in XML?' },
  ])
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

// More reports, tried on 25 November 2026. Our parser handled all of them.
t.test(
  'a link counts whatever stands around it (RssBandit#1243, NetNewsWire#1012, node-feedparser#72)',
  async t => {
    const url = 'https://dagkoerier.example/2026/11/brug'
    const item = (fields: string) => rss(`<title>Brug dicht</title>${fields}`)
    t.same(
      urls(
        item(
          `<link>${url}</link><guid ispermalink="false">tag:dagkoerier.example,3338:news</guid>`,
        ),
      ),
      [url],
    )
    t.same(
      urls(
        item(`<link>\n<![CDATA[\n  ${url}\n ]]>\n</link><guid><![CDATA[ 1568222173893 ]]></guid>`),
      ),
      [url],
    )
    t.same(urls(`<?xml version="1.0"?>\n<!-- made by a tool -->\n${item(`<link>${url}</link>`)}`), [
      url,
    ])
  },
)

t.test(
  'an entry of Atom has the authors of its feed, and a link to the feed leads nowhere (NetNewsWire#2797)',
  async t => {
    const head = '<author><name>Jan Maes</name></author><dc:creator>De Dagkoerier</dc:creator>'
    const atom = (entry: string) => entries(`${ATOM}${head}<entry>${entry}</entry></feed>`)
    t.match(atom('<link href="/a/1"/>'), [{ authors: ['Jan Maes'] }])
    t.match(atom('<link href="/a/1"/><author><name>Els Haar</name></author>'), [
      { authors: ['Els Haar'] },
    ])
    const source = '<source><title>Bron</title><author><name>Bo De Wit</name></author></source>'
    t.match(
      atom(`${source}<link href="/a/1"/>`),
      [{ authors: ['Bo De Wit'] }],
      'RFC 4287 §4.2.1, newsboat#2278',
    )
    t.match(atom(`${source}<link href="/a/1"/><author><name>Els Haar</name></author>`), [
      { authors: ['Els Haar'] },
    ])
    for (const href of ['', BASE])
      t.same(atom(`<title>Leeg</title><link href="${href}"/>`), [], href)
  },
)

t.test(
  'a date that is none hides no other, and an episode has its own title (nodebb-plugin-rss#36)',
  async t => {
    const date = '<dc:date>2026-11-24</dc:date>'
    for (const none of [
      'Invalid Date',
      '0000-00-00 00:00:00',
      'null',
      'Mon, 01 Jan 0001 00:00:00 GMT',
    ])
      t.match(
        entries(rss(`${TITLED}<pubDate>${none}</pubDate>${date}`)),
        [{ published: '2026-11-24' }],
        none,
      )
    const link = `<link>${ONE}</link>`
    t.match(entries(rss(`<itunes:title>Brug dicht</itunes:title>${link}`)), [
      { title: 'Brug dicht' },
    ])
  },
)

t.test(
  'JSON with raw line breaks, and one author without a list (nshipster.com#38, miniflux#3988)',
  async t => {
    const item =
      '"id":"1","url":"https://dagkoerier.example/a/1","title":"Brug\tdicht","content_text":"Eén.\n\nTwee \\"\n\\""'
    const feed = (more: string) =>
      `{"version":"https://jsonfeed.org/version/1",\n"items":[{${item}${more}}]}`
    t.match(entries(feed(''), 'application/json'), [
      { title: 'Brug\tdicht', content: 'Eén.\n\nTwee "\n"' },
    ])
    for (const more of [
      '"authors":{"name":"Jo Vos"}',
      '"author":[{"name":"Jo Vos"}]',
      '"authors":[{"name":"Jo Vos"}],"author":{"name":"X"}',
    ])
      t.match(entries(feed(`,${more}`), 'application/json'), [{ authors: ['Jo Vos'] }], more)
  },
)
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

t.test('an Atom entry without a link is at its id, or at the source of its content', async t => {
  const at = (inside: string) =>
    urls(`${ATOM}<title>D</title><entry><title>t</title>${inside}</entry></feed>`)
  const one = ['https://dagkoerier.example/nieuws/1']
  t.same(at('<id>https://dagkoerier.example/nieuws/1</id>'), one)
  t.same(at('<id>/nieuws/1</id>'), one)
  t.same(at('<id>tag:d,2026:1</id><content type="text/html" src="/nieuws/1"/>'), one)
  for (const none of [
    '<id>tag:d,2026:1</id>',
    '<id>nieuws-1</id>',
    '<id>urn:uuid:60a76c80-d399-11d9-b93c-0003939e0af6</id>',
    '<id>tag:d,2026:1</id><content type="image/png" src="/1.png"/>',
  ])
    t.same(at(none), [], none)
})

t.test('texts of media:group; those of single files where the entry has no title', async t => {
  const media = 'xmlns:media="http://search.yahoo.com/mrss/"'
  const link = `<link>${ONE}</link>`
  const texts =
    '<media:title>Brug</media:title><media:description>Zij is dicht.</media:description>'
  const file = `<media:content url="/f.jpg">${texts}</media:content>`
  const found = { title: 'Brug', summary: 'Zij is dicht.' }
  t.match(entries(rss(`${link}<media:group>${texts}</media:group>`, media)), [found])
  t.match(entries(rss(`${link}${file}`, media)), [found])
  t.match(entries(rss(`${link}<media:group>${file}</media:group>`, media)), [found])
  t.match(
    entries(rss(`${TITLED}${file}`, media)),
    [{ title: 'Brug dicht', summary: null }],
    'the caption of a picture is no summary',
  )
})

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

t.test('several entries that link to the front page are at their ids, or nowhere', async t => {
  const item = (guid: string) =>
    `<item><title>Brug</title><link>${HOME}/</link><guid>${guid}</guid></item>`
  const feed = (...guids: string[]) =>
    urls(`<rss version="2.0"><channel><title>D</title>${guids.map(item).join('')}</channel></rss>`)
  t.same(feed(ONE, '/a/2'), [ONE, TWO])
  t.same(feed('1', '2'), [])
  t.same(feed('1'), [`${HOME}/`], 'an outlet may have one such page')
})
