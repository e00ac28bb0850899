import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import t from 'tap'
import { clearArticles, type Doomed, withoutWriters, writeTombstones } from '#search/removals'
import { startClearing } from '#services/embedder/embed'
import { createLogger } from '#shared/log/logger'
import { createPool, transaction } from '#shared/postgres/pool'
import { LIST_NAME } from '#shared/removals/list'
import { countStanding, removeArticles } from '#shared/removals/remove'
import { lockWaits } from '#test/database'
import { until } from '#test/fleet'
import { answerOnTerminal, runScript } from '#test/script'
import { sent, startTestApi } from './api.ts'

const api = await startTestApi(t)
const { secret } = await api.issue()
const WORDS = 'gemeente bespreekt plannen voor een brug over het kanaal en hoort bewoners'
await api.index(
  Array.from({ length: 9 }, (_, at) => ({
    title: `Bericht ${at} over de brug`,
    body: at === 3 ? 'Een verhaal over Ijzerman.' : `${WORDS} ${'woord '.repeat(at)}`,
    authors: at === 3 ? ['Iemand Ijzerman'] : ['Jan Jansen'],
    outlet: { name: 'De Krant', domain: at % 2 === 0 ? 'krant.example' : 'blad.example' },
    publishedAt: new Date(Date.UTC(2026, 2, 1 + at)),
  })),
)
const other = await api.another()
const bases = [api.base, other.base]

/** What each process answers to a path. */
async function everywhere(path: string, headers: Record<string, string> = {}) {
  const answers = []
  for (const base of bases) {
    const response = await fetch(`${base}${path}`, {
      headers: { Authorization: `Bearer ${secret}`, ...headers },
    })
    const text = await response.text()
    answers.push({ status: response.status, text, headers: response.headers })
  }
  return answers
}

const articles = (more = '') =>
  everywhere(`/v1/articles?q=brug&sort=published_at&order=asc&per_page=2${more}`)

t.test('an article that was taken out is gone for every reader within seconds', async t => {
  const [first] = await articles()
  t.equal(first!.status, 200, first!.text)
  const before = JSON.parse(first!.text)
  const all: { id: string; url: string }[] = JSON.parse(
    (await everywhere('/v1/articles?per_page=100&sort=published_at&order=asc'))[0]!.text,
  ).articles
  const ids = all.map(({ id }) => id)
  const { id: gone, url } = all[3]!
  const etag =
    (await everywhere('/v1/articles?q=Ijzerman&search_in=title_body'))[0]!.headers.get('etag') ?? ''
  const suggested = async () =>
    (await everywhere('/explore/suggestions?field=author&q=ijzer')).map(({ text }) =>
      text.includes('Ijzerman'),
    )
  await until(async () => (await suggested()).every(Boolean), 5_000)

  const env = { DATABASE_URL: api.config.DATABASE_URL }
  const cited = (
    await api.ask(secret, '/explore/citations', sent('POST', { search: 'q=brug&search_in=title' }))
  ).json
  await api.pool.query("update citations set cited_at = cited_at - interval '2 hours'")
  for (const search of ['q=verhaal&search_in=title_body', 'q=gemeente&search_in=title_body'])
    t.equal((await api.ask(secret, '/explore/feeds', sent('POST', { search }))).status, 201)
  const dry = await runScript('articles', ['remove', gone, '--dry-run', '--json'], env)
  t.match(JSON.parse(dry.out), { dry_run: true, articles: 1, feeds: 1, removals: [] })
  t.match(await runScript('articles', ['remove', gone], env), { code: 2, err: /--reason/ })
  const done = await runScript('articles', ['remove', gone, '--reason', 'a court', '--json'], env)
  t.equal(done.code, 0, done.err)
  t.match(JSON.parse(done.out), { removals: [{ number: 1, id: gone }], left: 0, unknown: [] })
  const explained = new RegExp(`${gone} was taken out on 2.*-- list" says why.*-- release ${gone}"`)
  for (const word of [gone, url])
    t.match(await runScript('explain', [word], env), { code: 2, err: explained })

  const isGone = async () =>
    (await everywhere('/v1/articles?q=Ijzerman&search_in=title_body')).every(
      ({ text }) => !text.includes(gone),
    )
  await until(isGone, 5_000)
  for (const answer of await everywhere('/v1/articles?q=Ijzerman&search_in=title_body', {
    'If-None-Match': etag,
  }))
    t.equal(answer.status, 200, 'an ETag of before is not good')
  for (const { text } of await everywhere('/explore/counts?by=outlet'))
    t.equal(JSON.parse(text).total, 8)
  for (const { text } of await everywhere('/v1/articles.rss')) t.notMatch(text, 'Bericht 3')
  await until(async () => !(await suggested()).some(Boolean), 5_000)
  for (const { text } of await articles(`&cursor=${before.next_cursor}`)) {
    const { articles: shown, total_results } = JSON.parse(text)
    t.equal(total_results, 8)
    t.same(
      shown.map((one: { id: string }) => one.id),
      [ids[2], ids[4]],
      'its page in progress lacks it, and nothing else',
    )
  }
  for (const answer of await everywhere(`/explore/articles/${gone}`)) {
    t.equal(answer.status, 410)
    t.match(JSON.parse(answer.text), {
      code: 'article_removed',
      message: /^This article was taken out on \d{4}-\d\d-\d\d\.$/,
    })
  }
  for (const path of [`/explore/related?id=${gone}`, `/explore/copies?id=${gone}`])
    for (const answer of await everywhere(path)) t.equal(answer.status, 410, path)
  for (const answer of await everywhere(`/a/${gone}`, { Accept: 'text/html' })) {
    t.equal(answer.status, 410)
    t.match(answer.text, /This article was taken out on \d{4}-\d\d-\d\d\./)
  }
  t.match(await everywhere(`/a/${ids[2]}`, { Accept: 'text/html' }), [{ status: 200 }])
  const told = (await api.ask(secret, '/explore/removals')).json
  t.match(told, { data: [{ number: 1, id: gone }], last: 1, more: false })
  t.notMatch(JSON.stringify(told), /court|Ijzerman|Bericht/)
  t.match((await api.ask(secret, '/explore/removals?after=1')).json, { data: [], last: 1 })
  const abroad = (await api.issue({ countries: ['LU'] })).secret
  t.match((await api.ask(abroad, '/explore/removals')).json, { data: [], last: 1 }, 'by the plan')
  t.equal((await api.ask(secret, '/explore/removals?after=x')).status, 422)
  t.equal((await api.ask(null, '/explore/removals')).status, 401)
  const page = await everywhere(cited.address, { Accept: 'text/html' })
  for (const { text } of page)
    t.match(text, /Articles that were taken out: 1 of 9, the last on \d{4}-\d\d-\d\d\./)
  const file = (await api.ask(secret, `${cited.address}.json`)).json
  t.match(file, { count: 9, outside: 0, removed: [{ id: gone, h: /^[0-9a-f]{64}$/ }] })
  t.equal(file.articles.length, 8)
  const csv = (await api.ask(secret, `${cited.address}.csv`)).text
  t.match(csv, new RegExp(`^${gone},[^,]*,[^,]*,[0-9a-f]{64},,,,,,,,,\r$`, 'm'))
  const path = `${t.testdir()}/cited.csv`
  await writeFile(path, csv)
  for (const subject of [cited.address, path]) {
    const again = await runScript('cite', ['verify', subject], env)
    t.match(again, { code: 0, out: /^equal/ }, again.out + again.err)
    t.match(again.out, `${gone} was taken out on`)
  }
  await writeFile(path, csv.replace(/,[0-9a-f]{64},,,/, `,${'0'.repeat(64)},,,`))
  t.equal((await runScript('cite', ['verify', path], env)).code, 1, 'its hash is checked')
  const line = csv.split('\r\n').find(one => !one.startsWith(gone) && one.includes(ids[2]!))!
  await writeFile(path, csv.replace(line, line.split(',').slice(0, 4).join() + ','.repeat(9)))
  t.equal((await runScript('cite', ['verify', path], env)).code, 1, 'no other line may be bare')
  const sound = await runScript('verify', ['--json'], env)
  t.match(JSON.parse(sound.out), { differences: [] }, sound.out)
  t.same(
    await api.pool
      .query("select from authors where name = 'Iemand Ijzerman'")
      .then(r => r.rowCount),
    0,
  )
  const list = await runScript('articles', ['list', '--json'], env)
  t.equal(list.code, 0, list.err)
  t.match(JSON.parse(list.out), { number: 1, id: gone, reason: 'a court', released_at: null })
  t.type(JSON.parse(list.out).cleared_at, 'string')
})

t.test('nothing is taken out while a writer of before removals runs', async t => {
  const old = createPool(api.config.DATABASE_URL, 'normaliser', () => {})
  t.teardown(() => old.end())
  await old.query("set application_name = 'perscope normaliser #1 m43'")
  const env = { DATABASE_URL: api.config.DATABASE_URL }
  t.match(await runScript('articles', ['remove', 'nobody', '--reason', 'x'], env), {
    code: 2,
    err: /Writers of an earlier version run \(normaliser\)/,
  })
})

const places = t.testdir()
/** A search that finds nothing. */
const NOTHING = ['--q', 'verhaal']

async function polled(...search: string[]): Promise<string> {
  const place = `${places}/place ${search.join(' ')}`
  const own = ['--place', place, '--once', '--removals', '--url', api.base, '--key', secret]
  return (await runScript('poll', [...own, ...search])).out
}

t.test('who polls is told once, each time the place is kept', async t => {
  for (const search of [[], NOTHING]) {
    t.match(
      await polled(...search),
      /^\{"removed":\{"number":1,"id":"[^"]+","removed_at":"[^"]+"\}\}$/m,
    )
    t.notMatch(await polled(...search), 'removed')
  }
})

t.test('an outlet goes as a whole, or what it published before a time', async t => {
  const env = { DATABASE_URL: api.config.DATABASE_URL }
  const { rows } = await api.pool.query<Doomed>('select seq, id from articles')
  const standing = countStanding(api.pool)
  for (const row of rows) await standing.add([row])
  t.match(standing.counts(), { articles: 9, citations: 1 }, 'a citation of several counts once')
  const of = ['remove', '--outlet', 'krant.example', '--reason', 'asked', '--json']
  const refused = await answerOnTerminal('n', 'articles', of, env)
  t.match(refused, /Take 5 articles out for good\? .*Nothing was changed/s)
  const earlier = [...of, '--published-before', '2026-03-04T13:00']
  const dry = await runScript('articles', [...earlier, '--dry-run'], { ...env, TZ: 'Etc/GMT+12' })
  t.equal(JSON.parse(dry.out).articles, 2, 'a time is in UTC everywhere')
  const never = await runScript('articles', [...of, '--published-before', '2026-02-30'], env)
  t.match(never, { code: 2, err: /--published-before is "2026-02-30"; write a day or a time/ })
  const before = await runScript('articles', earlier, env)
  t.equal(JSON.parse(before.out).removals.length, 2, before.err)
  t.equal(JSON.parse((await runScript('articles', of, env)).out).removals.length, 3)
  for (const search of [[], NOTHING])
    t.match(await polled(...search), /^\{"removed":\{"number":6,/m, 'also without new articles')
  await until(async () => {
    const all = await everywhere('/explore/counts?by=outlet')
    return all.every(({ text }) => JSON.parse(text).total === 3)
  }, 5_000)
  t.match(await runScript('articles', ['remove', 'nobody', '--reason', 'x'], env), {
    code: 1,
    err: /No article has the id/,
  })
})

t.test(
  'a citation that meets a removal has the articles that are left, and is paid once',
  async t => {
    const { secret } = await api.issue({ rate: 100 })
    const cite = () =>
      api.ask(secret, '/explore/citations', sent('POST', { search: 'q=Apart&search_in=title' }))
    const others = Array.from({ length: 149 }, (_, n) => ({ title: `Apart ${n}` }))
    await api.index([{ title: 'Apart een' }, ...others])
    const { rows } = await api.pool.query<{ seq: bigint; id: string }>(
      "select seq, id from articles join article_texts using (seq) where title = 'Apart een'",
    )
    // The citation has searched, and waits for the removal before it is kept.
    const cited = await transaction(api.pool, async client => {
      await withoutWriters(client)
      const asked = cite()
      await until(async () => (await lockWaits(api.pool)) > 0, 30_000)
      await clearArticles(client, rows)
      await writeTombstones(client, rows, 'a court')
      return { asked }
    })
    const { status, json, headers } = await cited.asked
    t.match({ status, json }, { status: 201, json: { count: 149 } })
    t.equal(headers.get('x-ratelimit-remaining'), String(100 - 1 - 1))
  },
)

t.test('who takes out an article hears what is left when Qdrant refuses', async t => {
  const qdrant = createServer((_request, response) => response.writeHead(401).end('{}'))
  await new Promise<void>(resolve => qdrant.listen(0, '127.0.0.1', resolve))
  t.teardown(() => qdrant.close())
  const address = qdrant.address()
  const port = typeof address === 'object' ? address?.port : 0
  const env = { DATABASE_URL: api.config.DATABASE_URL, QDRANT_URL: `http://127.0.0.1:${port}` }
  await api.pool.query(
    "insert into vector_collections (name, state, model, recipe, dimensions) values ('x', 'serving', 'm', 1, 3)",
  )
  t.teardown(() => api.pool.query("delete from vector_collections where name = 'x'"))
  await api.index([{ title: 'Helemaal alleen' }])
  const id = (
    await api.pool.query(
      "select id from articles join article_texts using (seq) where title = 'Helemaal alleen'",
    )
  ).rows[0].id
  const refused = /Vectors are left, because Qdrant refuses our account or key .*articles -- clear/
  const { code, err } = await runScript('articles', ['remove', id, '--reason', 'x'], env)
  t.equal(code, 1)
  t.match(err, /Took out 1 article\. It stood in/)
  t.match(err, refused)
  t.match(await runScript('articles', ['clear'], env), { code: 1, err: refused })
})

t.test('a page of before is not current when an article of a later page goes', async t => {
  const write = (...days: number[]) =>
    api.index(
      days.map(day => ({
        title: `Zeldzaam ${day}`,
        publishedAt: new Date(Date.UTC(2026, 3, day)),
      })),
    )
  await write(3, 2)
  const path = '/v1/articles?q=zeldzaam&sort=published_at&per_page=1'
  const before = await api.ask(secret, path)
  const { rows } = await api.pool.query<Doomed>(
    "select seq, id from articles join article_texts using (seq) where title = 'Zeldzaam 2'",
  )
  await removeArticles(api.pool, rows, 'x')
  await write(1)
  const after = await api.ask(secret, path)
  t.same(
    [after.json.articles, after.json.total_results],
    [before.json.articles, before.json.total_results],
  )
  t.not(after.headers.get('etag'), before.headers.get('etag'))
})

t.test('an embedder lists what it clears, once the folder is there', async t => {
  const folder = join(t.testdir(), 'later')
  const log = createLogger('embedder', 'silent')
  await api.pool.query(
    "update tombstones set cleared_at = null, removed_at = removed_at - interval '11 minutes' where number = 1",
  )
  const config = { ...api.config, BACKUP_FOLDERS: [folder] }
  const clearing = startClearing(api.pool, config, log, 200)
  t.teardown(() => clearing.close())
  const isCleared = async () =>
    (await api.pool.query('select from tombstones where cleared_at is null')).rowCount === 0
  await until(isCleared, 10_000)
  await mkdir(folder)
  const list = () => readFile(join(folder, LIST_NAME), 'utf8').catch(() => '')
  await until(async () => (await list()).startsWith('{"installation"'), 10_000)
})
