import t from 'tap'
import { createFeed } from '#shared/desk/feeds'
import { createKey } from '#shared/plans/keys'
import { runScript } from '#test/script'
import { PLAN, startTestApi } from './api.ts'

const api = await startTestApi(t)
await api.index([{ title: 'De brug is dicht' }])

const keys = (...args: string[]) =>
  runScript('keys', args, { DATABASE_URL: api.config.DATABASE_URL })
const issue = async (name: string) => (await createKey(api.pool, name, PLAN)).key
const read = (url: string) => api.ask(null, new URL(url).pathname)

/** A feed of a key, as its owner makes it. */
async function make(keyId: string, title = 'Bruggen', search = 'q=brug&country=NL') {
  const made = await createFeed(api.pool, keyId, { search, title })
  return { id: made!.feed.id, url: `https://news.example/feeds/${made!.token}.rss` }
}

t.test('feed list shows the feeds of a key, and no address', async t => {
  const key = await issue('Een lezer')
  const feed = await make(key.id)
  t.equal((await read(feed.url)).status, 200)
  const listed = await keys('feed', 'list', key.id, '--json')
  t.match(JSON.parse(listed.out), [{ id: feed.id, key: key.id, requests: 1 }])
  t.notMatch(listed.out, 'psf_')
  const table = await keys('feed', 'list', 'Een lezer')
  t.match(
    table.out,
    /^feed_\w+ {2}Bruggen\n {2}q=brug&country=NL {2}made .* UTC, 1 × used, last .* UTC\n$/,
  )
})

t.test('a leaked feed is revoked by its address, and all of a key at once', async t => {
  const key = await issue('Lek')
  const one = await make(key.id)
  const two = await make(key.id)
  const three = await make(key.id)
  t.match(await keys('feed', 'revoke', one.url), {
    code: 0,
    out: '',
    err: `Revoked ${one.id}; its readers`,
  })
  t.equal((await read(one.url)).status, 410)
  t.equal((await read(two.url)).status, 200)
  t.match(
    (await keys('rotate', key.id)).err,
    /Its feeds \(2\) keep their addresses; .* feed revoke key_\w+ --all/,
  )
  t.equal((await read(two.url)).status, 200)
  t.match((await keys('feed', 'revoke', 'Lek', '--all')).err, /Revoked 2 of Lek/)
  for (const { url } of [two, three]) t.equal((await read(url)).status, 410)
  t.match((await keys('feed', 'list', key.id)).out, /^No feeds;/)
})

t.test('what is wrong is said in one sentence', async t => {
  await issue('Twee')
  await issue('Twee')
  const wrong: [args: string[], sentence: RegExp, code: number][] = [
    [['feed'], /feed list or feed revoke/, 2],
    [['feed', 'list'], /Name the key by its id or name/, 2],
    [['feed', 'list', 'Twee'], /Several keys have the name "Twee"; write the id: key_\w+, key_/, 2],
    [['feed', 'revoke'], /Name the feed by its id or address/, 2],
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
