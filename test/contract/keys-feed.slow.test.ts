import { parseOpml } from 'feedsmith'
import t from 'tap'
import { createKey } from '../../shared/plans/keys.ts'
import { runScript } from '../script.ts'
import { startTestApi } from './api.ts'

t.setTimeout(280_000)

const api = await startTestApi(t, { SERVICE_NAME: 'Nieuws' })
await api.index([{ title: 'De brug is dicht' }])

const settings = { DATABASE_URL: api.config.DATABASE_URL, PUBLIC_URL: 'https://news.example/', SERVICE_NAME: 'Nieuws' }
const keys = (...args: string[]) => runScript('keys', args, settings)
const PLAN = { countries: ['NL' as const], history: { kind: 'rolling' as const, days: 30 }, rate: 1_000, quota: null }
const issue = async (name: string) => (await createKey(api.pool, name, PLAN)).key
const read = (url: string) => api.ask(null, new URL(url).pathname)

t.test('feed add prints the address once, and it works without a key', async t => {
  const key = await issue('Een lezer')
  const made = await keys('feed', 'add', 'Een lezer', '--search', 'q=brug&country=nl', '--title', 'Bruggen')
  t.equal(made.code, 0, made.err)
  const feed = JSON.parse(made.out)
  t.match(feed, {
    id: /^feed_[0-9a-f]{16}$/,
    key: key.id,
    title: 'Bruggen',
    search: 'q=brug&country=NL',
    url: /^https:\/\/news\.example\/feeds\/psf_[\w-]{43}\.rss$/,
  })
  t.equal((await read(feed.url)).status, 200)
  const listed = await keys('feed', 'list', key.id, '--json')
  t.match(JSON.parse(listed.out), [{ id: feed.id, requests: 1 }])
  t.notMatch(listed.out, 'psf_')
  const table = await keys('feeds', key.id)
  t.match(table.out, /^feed_\w+ {2}Bruggen\n {2}q=brug&country=NL {2}made .* UTC, 1 × used, last .* UTC\n$/)
})

t.test('feed opml has the addresses of all feeds in force', async t => {
  const key = await issue('OPML')
  const [one, two] = [
    JSON.parse((await keys('feed', 'add', key.id, '--search', '', '--title', 'A & "b" <c>')).out),
    JSON.parse((await keys('feed', 'add', key.id, '--search', 'q=weg')).out),
  ]
  t.equal((await keys('feed', 'revoke', two.id)).code, 0)
  t.equal((await read(two.url)).status, 410)
  for (const args of [
    ['feed', 'opml', key.id],
    ['feeds', key.id, '--opml'],
  ]) {
    const { out, err, code } = await keys(...args)
    t.equal(code, 0, err)
    const outlines = parseOpml(out).body?.outlines
    t.equal(outlines?.length, 1)
    t.match(outlines?.[0], { text: 'A & "b" <c>', xmlUrl: one.url, htmlUrl: 'https://news.example/' })
  }
  await api.pool.query("update secrets set value = 'another' where name = 'feeds'")
  const lost = await keys('feed', 'opml', key.id)
  t.match(lost.err, /Left out: 1 whose address/)
  t.notOk(lost.out.includes('<outline'))
  t.equal((await read(one.url)).status, 200, 'its address works on')
})

t.test('a leaked feed is revoked by its address, and all of a key at once', async t => {
  const key = await issue('Lek')
  const made = async () => JSON.parse((await keys('feed', 'add', key.id, '--search', '')).out)
  const [one, two, three] = [await made(), await made(), await made()]
  t.match(await keys('feed', 'revoke', one.url), { code: 0, out: '', err: `Revoked ${one.id}; its readers` })
  t.equal((await read(one.url)).status, 410)
  t.equal((await read(two.url)).status, 200)
  t.match((await keys('rotate', key.id)).err, /Its feeds \(2\) keep their addresses; .* feed revoke key_\w+ --all/)
  t.equal((await read(two.url)).status, 200)
  t.match((await keys('feed', 'revoke', 'Lek', '--all')).err, /Revoked 2 of Lek/)
  for (const { url } of [two, three]) t.equal((await read(url)).status, 410)
  t.match((await keys('feed', 'list', key.id)).out, /^No feeds;/)
})

t.test('what is wrong is said in one sentence', async t => {
  await issue('Twee')
  await issue('Twee')
  const one = await issue('Een')
  const wrong: [args: string[], sentence: RegExp, code: number][] = [
    [['feed'], /feed add, feed list, feed opml or feed revoke/, 2],
    [['feed', 'add'], /Name the key by its id or name/, 2],
    [['feed', 'list', 'Twee'], /Several keys have the name "Twee"; write the id: key_\w+, key_/, 2],
    [['feed', 'add', one.id], /Write --search/, 2],
    [['feed', 'add', one.id, '--search', 'cursor=abc'], /cursor: The feed is a single page/, 2],
    [['feed', 'add', one.id, '--search', 'country=BE'], /Your plan covers NL, not BE/, 2],
    [['feed', 'add', one.id, '--search', '', '--title', 'a\nb'], /--title: .*control characters/, 2],
    [['feed', 'revoke', 'feed_0'], /no such feed/, 1],
    [['feed', 'revoke', `https://news.example/feeds/psf_${'A'.repeat(43)}.rss`], /no such feed/, 1],
  ]
  for (const [args, sentence, code] of wrong) {
    const refused = await keys(...args)
    t.equal(refused.code, code, args.join(' '))
    t.equal(refused.out, '')
    t.match(refused.err, sentence)
    t.equal(refused.err.trim().split('\n').length, 1)
  }
})
