import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import t from 'tap'
import { registry } from '#shared/metrics'
import { freePort } from '#test/fleet'
import { run } from '#test/script'
import { sent, startTestApi } from './api.ts'
import { installPython } from './python.ts'

/*
 * Feed readers of Debian, and the parser of those written in Python: what they do with the address
 * of a feed, from the OPML on.
 */

const port = await freePort()
const base = `http://127.0.0.1:${port}`
const api = await startTestApi(t, { PORT: String(port), PUBLIC_URL: base })
await api.index([
  { title: 'Brug "A" & <B> geopend ]]>', authors: ['Anna de Wit', 'Zoë Müller'] },
  { title: 'Zonder datum 😀', publishedAt: null, url: 'https://dagkoerier.example/a?b=1&c=2' },
  { title: 'Le pont ouvert', language: 'fr', country: 'BE' },
])
const TITLES = ['Brug "A" & <B> geopend ]]>', 'Zonder datum 😀']

const tools = await installPython('feedparser==6.0.11')
const noPython = typeof tools === 'string' ? tools : false
const folder = t.testdir()

/**
 * A key with two feeds without a common article, a folder of its own, and the OPML in it. Readers
 * show an article of two feeds once, by its guid.
 */
async function subscribe(name: string) {
  const { secret } = await api.issue()
  const own = join(folder, name)
  await mkdir(own)
  const make = async (search: string, title: string) => {
    const made = await api.ask(secret, '/explore/feeds', sent('POST', { search, title }))
    return { id: made.json.id as string, url: made.json.url as string }
  }
  const dutch = await make('country=NL', 'Alles & "meer" <é>')
  const belgium = await make('country=BE', 'Belgie')
  const opml = join(own, 'feeds.opml')
  await writeFile(opml, (await api.ask(secret, '/explore/feeds.opml')).text)
  const env = {
    ...process.env,
    HOME: own,
    XDG_CONFIG_HOME: own,
    XDG_DATA_HOME: own,
    TERM: 'dumb',
    LC_ALL: 'C.UTF-8',
  }
  return {
    own,
    opml,
    dutch,
    belgium,
    env,
    revoke: (id: string) => api.ask(secret, `/explore/feeds/${id}`, { method: 'DELETE' }),
  }
}

/** A sentence when a program is not there, for a test that needs it. */
const missing = async (program: string, option: string) =>
  await run(program, [option]).then(
    () => false,
    error => (error.code === 'ENOENT' ? `no ${program} (Debian package of that name)` : false),
  )

/** Answers of 304 so far. */
async function unchanged(): Promise<number> {
  const lines = (await registry().metrics()).split('\n')
  return lines
    .filter(line => /^perscope_api_request_seconds_count\{.*status="304"/.test(line))
    .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
}

const skip = await missing('newsboat', '-v')
t.test('newsboat imports the OPML, reads the feeds, and asks conditionally', { skip }, async t => {
  const { own, opml, dutch, belgium, env, revoke } = await subscribe('newsboat')
  const urls = join(own, 'urls')
  const cache = join(own, 'cache.db')
  const newsboat = (...args: string[]) =>
    run('newsboat', ['-C', '/dev/null', '-u', urls, '-c', cache, ...args], { env })
  await writeFile(urls, '')
  await newsboat('-i', opml)
  t.match(await readFile(urls, 'utf8'), dutch.url)
  await newsboat('-x', 'reload')
  const items = (url: string) => {
    const database = new DatabaseSync(cache, { readOnly: true })
    const rows = database
      .prepare('select title, url, author, guid from rss_item where feedurl = ? order by title')
      .all(url)
    database.close()
    return rows
  }
  const titles = items(dutch.url).map(({ title }) => title)
  t.strictSame(titles, TITLES)
  t.equal(items(dutch.url)[0]?.author, 'Anna de Wit, Zoë Müller')
  t.equal(items(dutch.url)[1]?.url, 'https://dagkoerier.example/a?b=1&c=2')
  const belgian = items(belgium.url).map(({ title }) => title)
  t.strictSame(belgian, ['Le pont ouvert'])
  t.match((await newsboat('-x', 'print-unread')).stdout, /^3 unread articles/)

  // It keeps the validator from the second answer on.
  await newsboat('-x', 'reload')
  const before = await unchanged()
  await newsboat('-x', 'reload')
  t.equal((await unchanged()) - before, 2, 'both feeds are asked for with If-None-Match')
  await api.index([{ title: 'Nieuw over newsboat', country: 'BE' }])
  await newsboat('-x', 'reload')
  t.match((await newsboat('-x', 'print-unread')).stdout, /^4 unread articles/)
  await revoke(belgium.id)
  await newsboat('-x', 'reload')
  t.equal(items(belgium.url).length, 2, 'a feed that has ended takes nothing from the reader')
})

/** Reads a feed as readers written in Python do, and prints what it found; then asks again. */
const READER = `
import feedparser, json, sys
found = feedparser.parse(sys.argv[1])
again = feedparser.parse(sys.argv[1], etag=found.etag)
print(json.dumps({
  'bozo': str(found.get('bozo_exception', '')),
  'version': found.version,
  'title': found.feed.title,
  'link': found.feed.link,
  'status': [found.status, again.status],
  'items': [[e.id, e.link, e.get('author')] for e in found.entries],
}))
`
t.test(
  'decision 31: feedparser (Python) reads the address, and asks conditionally',
  { skip: noPython },
  async t => {
    if (typeof tools === 'string') return
    t.teardown(tools.remove)
    const { belgium } = await subscribe('feedparser')
    const { stdout } = await run(tools.program('python'), ['-c', READER, belgium.url])
    const found = JSON.parse(stdout)
    t.match(found, {
      bozo: '',
      version: 'rss20',
      title: 'Belgie',
      link: `${base}/?country=BE`,
      status: [200, 304],
    })
    t.equal(found.items.at(-1).length, 3)
  },
)
