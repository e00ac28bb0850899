import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { createPool } from '../../shared/postgres/pool.ts'
import { createTestDatabase } from '../database.ts'
import { rss } from './crawl.ts'
import { startSite } from './site.ts'

const database = await createTestDatabase()
const site = await startSite()
const pool = createPool(database.url, 'test', () => {})
t.teardown(async () => {
  await pool.end()
  await site.close()
  await database.drop()
})

const script = new URL('../../scripts/outlets.ts', import.meta.url).pathname
const outlets = (...words: string[]) =>
  new Promise<{ code: number; out: string; err: string }>(resolve => {
    const env = {
      ...process.env,
      DATABASE_URL: database.url,
      CRAWL_ALLOW_PRIVATE: '127.0.0.0/8',
      CRAWL_HOST_DELAY: '1ms',
    }
    execFile(process.execPath, [script, ...words], { env }, (error, out, err) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, out, err }),
    )
  })

const file = join(t.testdir(), 'outlets.json')
const write = (...entries: object[]) => writeFile(file, JSON.stringify({ outlets: entries }))
const A = {
  name: 'A',
  domain: 'a.example',
  country: 'NL',
  languages: ['nl'],
  timeZone: 'Europe/Amsterdam',
  feeds: [`${site.origin}/a.xml`],
}
const B = { name: 'B', domain: 'b.example', country: 'LU', languages: ['lb', 'fr'], timeZone: 'Europe/Luxembourg' }

t.test('sync works on an empty database, adds nothing of its own, and says what it did', async t => {
  await write(A, B)
  const dry = await outlets('sync', file, '--dry-run')
  t.match(dry.err, /Would be: 2 outlets added/)
  t.equal((await pool.query('select from outlets')).rowCount, 0)
  t.match((await outlets('sync', file)).err, /2 outlets added, 0 changed, 0 removed, 0 as they were; 1 feeds added/)
  t.match((await outlets('sync', file)).err, /0 outlets added, 0 changed, 0 removed, 2 as they were/)
  await write({ ...A, name: 'Anders' })
  t.match((await outlets('sync', file)).err, /changed: a\.example\nno longer crawled: b\.example/)
  const { rows } = await pool.query('select domain, name, active from outlets order by domain')
  t.same(rows, [
    { domain: 'a.example', name: 'Anders', active: true },
    { domain: 'b.example', name: 'B', active: false },
  ])
})

t.test('a file that cannot be used changes nothing and names what is wrong', async t => {
  await write({ ...A, country: 'FR' })
  const { code, err } = await outlets('sync', file)
  t.equal(code, 1)
  t.match(err, /a\.example: country must be one of NL, BE, LU/)
  t.match(await outlets('sync', '/does/not/exist'), { code: 1, err: /no such file/ })
  t.match(await outlets('paint'), { code: 2, err: /sync FILE, list, or check/ })
})

t.test('list shows the outlets in trouble first; as JSON one a line', async t => {
  await pool.query("update feeds set failures = 3, last_error = 'the feed answers 500' where url like '%a.xml'")
  const { out } = await outlets('list')
  t.match(out, /^health.*\nfailing\s+a\.example.*the feed answers 500/)
  const [line = ''] = (await outlets('list', '--json')).out.trim().split('\n')
  t.match(JSON.parse(line), { domain: 'a.example', health: 'failing', failures: 3 })
})

t.test('check tries every feed once, with manners, and reports', async t => {
  site.on('/a.xml', rss(`${site.origin}/1`, `${site.origin}/2`))
  site.on('/page.html', '<html>')
  site.on('/robots.txt', 'user-agent: *\ndisallow: /closed')
  await write({ ...A, feeds: ['/a.xml', '/page.html', '/closed.xml', '/missing.xml'].map(path => site.origin + path) })
  const { code, out, err } = await outlets('check', file)
  t.equal(code, 1)
  t.match(err, /ok {3}a\.example .*\/a\.xml rss, 2 addresses/)
  t.match(err, /FAIL a\.example .*\/page\.html no feed, but text\/html/)
  t.match(err, /FAIL a\.example .*\/closed\.xml robots\.txt forbids it/)
  t.match(err, /FAIL a\.example .*\/missing\.xml it answers 404/)
  t.match(out, /^1 of 4 feeds read, 1 of 1 outlets with at least one/)
  t.equal(site.to('/robots.txt').length, 1)
})

t.test('benelux.json is a catalogue of at least 60 outlets in the three countries and five languages', async t => {
  const real = new URL('../../infra/outlets/benelux.json', import.meta.url).pathname
  t.match((await outlets('sync', real, '--dry-run')).err, /Would be: (6|7|8|9)\d outlets added/)
})
