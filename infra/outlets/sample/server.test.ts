import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import t from 'tap'
import { readFeed } from '../../../services/crawler/feeds/parsing/parse.ts'
import { freePort } from '../../embedded/data-directory.ts'
import { SAMPLE_OUTLETS, type SampleOutlet, textsOf } from './outlets.ts'
import { startSampleSites } from './server.ts'

const ports = new Map<string, number>()
const sites = await startSampleSites(async domain => {
  const port = await freePort()
  ports.set(domain, port)
  return port
})
t.teardown(sites.close)

const origin = ({ domain }: SampleOutlet) => `http://127.0.0.1:${ports.get(domain)}`
const get = (outlet: SampleOutlet, path: string, headers: Record<string, string> = {}) =>
  fetch(origin(outlet) + path, { headers, redirect: 'manual' })

function textWith(answer: string) {
  for (const outlet of SAMPLE_OUTLETS) {
    const text = textsOf(outlet).find(candidate => candidate.answer === answer)
    if (text) return { outlet, text, path: outlet.address(text) }
  }
  throw new Error(`No text answers with ${answer}.`)
}

for (const outlet of SAMPLE_OUTLETS) {
  t.test(
    `${outlet.domain}: its catalogue entry names a feed, the feed every article, its page all the text`,
    async t => {
      const texts = textsOf(outlet)
      const entry = sites.catalogue.outlets.find(({ domain }) => domain === outlet.domain)
      const [address = ''] = [...(entry?.feeds ?? []), ...(entry?.sitemaps ?? [])]
      const answer = await fetch(address)
      const contentType = answer.headers.get('content-type')
      const feed = readFeed({ bytes: Buffer.from(await answer.arrayBuffer()), contentType, url: address })
      const named = new Map(feed?.named.map(({ entry }) => [entry.url, entry]))
      t.equal(named.size, texts.length)
      for (const text of texts) {
        const found = named.get(origin(outlet) + outlet.address(text))
        t.equal(found?.title, text.title)
        t.equal(new Date(found?.published ?? '').getTime(), text.publishedAt.getTime(), text.slug)
        if (text.answer !== 'page') continue
        const page = await (await get(outlet, outlet.address(text))).text()
        const shown = page.replaceAll('&quot;', '"').replaceAll('&amp;', '&')
        for (const part of [text.title, ...text.paragraphs]) t.ok(shown.includes(part), part.slice(0, 40))
      }
    },
  )

  t.test(`${outlet.domain}: robots.txt forbids something, and an unchanged feed is 304`, async t => {
    t.match(await (await get(outlet, '/robots.txt')).text(), /^Disallow: \//m)
    t.equal((await get(outlet, '/')).status, 200)
    t.equal((await get(outlet, '/no-such-page')).status, 404)
    const tag = (await get(outlet, outlet.feed.path)).headers.get('etag') ?? ''
    t.equal((await get(outlet, outlet.feed.path, { 'If-None-Match': tag })).status, 304)
    t.equal((await get(outlet, outlet.feed.path, { 'If-None-Match': '"other"' })).status, 200)
  })
}

t.test('a page refused, gone, failing or behind a wall answers so', async t => {
  for (const [answer, first, second] of [
    ['forbidden', 403, 403],
    ['gone', 404, 404],
    ['fails', 500, 500],
    ['fails-once', 503, 200],
    ['consent-wall', 200, 200],
    ['paywall', 200, 200],
  ] as const) {
    const { outlet, path, text } = textWith(answer)
    t.equal((await get(outlet, path)).status, first, answer)
    const again = await get(outlet, path)
    t.equal(again.status, second, answer)
    t.equal((await again.text()).includes(text.paragraphs[1] ?? ''), answer === 'fails-once', answer)
  }
})

t.test('when a port is taken no site stays', async t => {
  const taken = createServer().listen(await freePort(), '127.0.0.1')
  await once(taken, 'listening')
  t.teardown(() => taken.close())
  const other = await freePort()
  const { port } = Object(taken.address())
  await t.rejects(
    startSampleSites(async domain => (domain === 'dagkoerier.example' ? other : port)),
    /EADDRINUSE/,
  )
  await t.rejects(fetch(`http://127.0.0.1:${other}/`))
})

t.test('the program prints the catalogue and ends on SIGTERM', async t => {
  const program = new URL('./server.ts', import.meta.url).pathname
  const child = spawn(process.execPath, [program], { stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(() => child.kill('SIGKILL'))
  let printed = ''
  for await (const chunk of child.stdout.setEncoding('utf8')) {
    printed += chunk
    if (printed.endsWith('\n}\n')) break
  }
  const { outlets }: { outlets: { feeds: string[] }[] } = JSON.parse(printed)
  t.equal(outlets.length, 12)
  t.equal((await fetch(outlets[0]?.feeds[0] ?? '')).status, 200)
  child.kill('SIGTERM')
  t.same(await once(child, 'exit'), [0, null])
})
