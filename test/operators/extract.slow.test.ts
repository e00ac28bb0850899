import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { articlePage } from '#test/normaliser/stored'
import { jsonLines, runScript } from '#test/script'

/** The objects that `npm run -s extract` prints for these lines. */
async function extract(
  lines: (object | string)[],
  ...options: string[]
): Promise<Record<string, unknown>[]> {
  const input = lines
    .map(line => (typeof line === 'string' ? line : JSON.stringify(line)))
    .join('\n')
  const { code, out, err } = await runScript('extract', options, {}, input)
  if (code !== 0) throw new Error(err)
  return jsonLines(out)
}

const OUTLET = {
  name: 'De Dagkoerier',
  domain: 'dagkoerier.example',
  country: 'BE',
  languages: ['nl'],
}
const url = 'https://www.dagkoerier.example/nieuws/brug-blijft-dicht'
const title = 'Raad spreekt over de brug'
const html = articlePage(title, 'de brug')

t.test('pages give articles in order, a bad line gives an error, and the next goes on', async t => {
  const entry = {
    title,
    summary: 'De brug blijft dicht.',
    published: '2026-11-17T09:30:00',
    authors: ['Jan Peeters'],
  }
  const [whole, broken, blank, unknown, gone, refused, ahead] = await extract([
    { url, html, entry, outlet: OUTLET, now: '2026-11-25T12:00:00Z' },
    '{"url": ',
    ' ',
    { html },
    { url, html, status: 404, entry },
    { url, status: 403, entry, outlet: OUTLET },
    { url, html, entry, now: '2026-11-10T12:00:00Z' },
  ])
  t.match(whole, {
    title,
    url,
    authors: ['Jan Peeters'],
    language: 'nl',
    country: 'BE',
    published_at: '2026-11-17T08:30:00.000Z',
    origins: {
      title: { source: 'markup', sure: 'confirmed' },
      date: { source: 'feed', sure: 'stated' },
    },
  })
  t.match(whole?.snippet, /^Over de brug is dinsdag/)
  t.match(whole?.body, /dreigt met een motie\.$/)
  t.match([broken?.error, unknown?.error], [/JSON/, /'url'/])
  t.same(blank, { error: 'line 3 is blank' })
  t.equal(gone?.refused, 'gone')
  t.match(refused, { title, body: 'De brug blijft dicht.', interstitial: 'forbidden' })
  t.equal(ahead?.published_at, null, 'a date ahead of the line’s clock is none')
})

t.test('with --together, later pages of an outlet know what earlier ones served', async t => {
  const interstitial = `<html><head><title>Welkom</title></head><body><div><p>${'Voordat u verder gaat vragen wij u om even te kiezen hoe u deze krant wilt gebruiken. '.repeat(4)}</p></div></body></html>`
  const lines = Array.from({ length: 4 }, (_, at) => ({
    url: `${url}-${at}`,
    html: interstitial,
    entry: { title: `Burgemeester opent gymzaal ${at}` },
    outlet: OUTLET,
  }))
  const alone = (await extract(lines)).map(line => line.interstitial)
  t.same(alone, [null, null, null, null])
  const together = await extract(lines, '--together')
  const inTurn = together.map(line => line.interstitial)
  t.same(inTurn, [null, null, 'repeated text', 'repeated text'])
})

t.test('feeds give entries, robots.txt gives permissions', async t => {
  const item = `<item><title>${title}</title><link>/a/1</link><description>Kort.</description></item>`
  const file = join(t.testdir(), 'feed.xml')
  await writeFile(file, `<rss version="2.0"><channel>${item}</channel></rss>`)
  const entries = [
    {
      url: 'https://www.dagkoerier.example/a/1',
      title,
      summary: 'Kort.',
      content: null,
      authors: [],
      published: null,
    },
  ]
  t.same(
    await extract(
      [
        { url: 'https://www.dagkoerier.example/rss', file },
        { url, text: html, contentType: 'text/html' },
      ],
      '--feeds',
    ),
    [{ entries }, { entries: null }],
  )
  const robots = 'User-agent: *\nCrawl-delay: 1.5\nDisallow: /prive'
  const line = {
    text: robots,
    agent: 'PerscopeBot/1.0 (+https://perscope.example/bot)',
    urls: [url, `https://www.dagkoerier.example/prive/1`],
  }
  t.same(await extract([line], '--robots'), [{ allowed: [true, false], crawlDelay: 1.5 }])
})

t.test('rights that a page’s headers or tags reserve are obeyed and told', async t => {
  const entry = { title }
  const tagged = (tag: string | string[]) => ({
    url,
    html,
    entry,
    outlet: OUTLET,
    headers: { 'X-Robots-Tag': tag },
  })
  const [refused, another, short, none] = await extract([
    tagged('noindex'),
    tagged(['otherbot: noindex', 'all']),
    tagged('max-snippet:8'),
    {
      url,
      html: html.replace('</head>', '<meta name="robots" content="nosnippet"></head>'),
      entry,
      outlet: OUTLET,
    },
  ])
  t.match(refused, { refused: 'rights', rights: [{ signal: 'noindex', source: 'header' }] })
  t.match(another, { title, snippet: /^Over de brug is dinsdag/, rights: [] })
  t.match(short, { snippet: 'Over de', rights: [{ signal: 'max-snippet:8', source: 'header' }] })
  const page = { url, html, entry, outlet: OUTLET }
  const tdmrep = JSON.stringify([{ location: '/', 'tdm-reservation': 1 }])
  const [reserved, unsearched, taken] = await extract([
    { ...page, tdmrep },
    { ...page, robots: 'User-agent: *\nContent-Signal: search=no' },
    { ...page, tdmrep, headers: { 'tdm-reservation': '0' } },
  ])
  t.match(reserved, {
    refused: 'rights',
    rights: [{ signal: 'tdm-reservation:1', source: 'tdmrep.json' }],
  })
  t.match(unsearched, { refused: 'rights', rights: [{ signal: 'search=n', source: 'robots.txt' }] })
  t.match(taken, {
    title,
    rights: [{ signal: 'tdm-reservation:1' }, { signal: 'tdm-reservation:0', source: 'header' }],
  })
  t.match(none, { title, snippet: null, rights: [{ signal: 'nosnippet', source: 'meta' }] })
})
