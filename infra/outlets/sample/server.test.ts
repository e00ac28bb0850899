import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import t from 'tap'
import { freePort } from '../../embedded/data-directory.ts'
import { SAMPLE_OUTLETS, type SampleOutlet } from './outlets.ts'
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

// test/start/hang.slow.test.ts compares the feeds and pages with the articles that a start stores.

t.test('robots.txt forbids something, and an unchanged feed is 304', async t => {
  for (const outlet of SAMPLE_OUTLETS) {
    t.match(await (await get(outlet, '/robots.txt')).text(), /^Disallow: \//m)
    t.equal((await get(outlet, '/')).status, 200)
    t.equal((await get(outlet, '/no-such-page')).status, 404)
    const tag = (await get(outlet, outlet.feed.path)).headers.get('etag') ?? ''
    t.equal((await get(outlet, outlet.feed.path, { 'If-None-Match': tag })).status, 304)
    t.equal((await get(outlet, outlet.feed.path, { 'If-None-Match': '"other"' })).status, 200)
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
