import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { openIndexer } from '#search/indexer'
import { openArticleWriter } from '#search/indexing/writer'
import type { NewArticle } from '#search/types'
import { createKey, revokeKey } from '#shared/plans/keys'
import { createPool } from '#shared/postgres/pool'
import { SEGMENT_THREAD } from '#shared/postgres/segment-thread'
import { startReceiver } from '#test/alerts'
import { ask, PLAN, sent } from '#test/contract/api'
import { createTestDatabase, PATIENT } from '#test/database'
import { createFleet, freePort, type ServiceName, until } from '#test/fleet'
import { startRedis } from '#test/queues/redis'
import { newArticle } from '#test/search/short-articles'
import { openDoor } from '#test/standbys/door'
import { startTestCluster } from '#test/standbys/servers'
import { createRandom } from './random.ts'

/*
 * A history of alerts: what their readers, an operator and misfortune do, in an order of chance.
 * The oracle reads at the end what each alert should have told, and what its receiver got.
 */

t.setTimeout(580_000)
const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 1e9))
const random = createRandom(seed)

const WORDS = ['brug', 'sluis', 'veer', 'dijk'] as const
/** By the last word of its title: in days, the age of an article when it comes. */
const AGES: Record<string, number | null> = {
  nieuw: 0,
  deze: 29,
  oud: 31,
  ouder: 1_000,
  geen: null,
}
const DAYS = 30
const ageOf = (title: string) => AGES[title.split(' ').at(-1)!] ?? null
const isOld = (title: string) => (ageOf(title) ?? 0) > DAYS
/** What is waited for at the end: a killed notifier's message, and a claim of a killed API. */
const QUIET = 240_000

t.test(`what is new is told at least once, in order, under one id (SEED=${seed})`, async t => {
  const cluster = await startTestCluster(1)
  t.teardown(() => cluster.stop())
  process.env.DATABASE_URL = cluster.url
  process.env.TEST_SUPERUSER_URL = cluster.primary.in(cluster.url)
  const database = await createTestDatabase()
  await cluster.primary.query("alter system set synchronous_standby_names = '*'")
  await cluster.primary.query('select pg_reload_conf()')
  const door = await openDoor(() => new URL(cluster.current().url))
  t.teardown(() => door.close())
  const url = door.to(database.url)
  const pool = createPool(url, 'test', () => {}, PATIENT)
  t.teardown(() => pool.end())
  const superuser = (sql: string) => cluster.current().query(sql, database.url)

  const { received, fate, url: to } = await startReceiver(t)

  const redis = await startRedis()
  t.teardown(() => redis.stop())
  const PORT = String(await freePort())
  const fleet = createFleet(
    { DATABASE_URL: url, REDIS_URL: redis.url ?? '', ALERT_HOSTS: '127.0.0.1' },
    t,
  )
  const start = (service: ServiceName) => fleet.start(service, service === 'api' ? { PORT } : {})
  await Promise.all((['api', 'notifier', 'notifier'] as const).map(start))
  const { secret } = await createKey(pool, 'test', PLAN)
  const send = async (method: string, path: string, body: object, by = secret) => {
    let id = ''
    const isDone = async () => {
      const answer = await ask(`${fleet.base()}/explore/searches${path}`, by, sent(method, body))
      id = answer.json?.data?.id ?? ''
      return answer.status < 300
    }
    await until(isDone, 60_000, fleet.logs)
    return id
  }

  /** What an alert looks for, since which article, and when. */
  const alerts: {
    id: string
    word: string
    from: number
    when: string
    to: string
    /** null: also what is older. */
    days: number | null
  }[] = []
  const written: string[] = []
  const aged = (title: string, number: number, age = ageOf(title)) => {
    const publishedAt = age === null ? null : new Date(Date.now() - age * 86_400_000)
    return newArticle(number, { title, publishedAt })
  }
  const put = async (articles: NewArticle[]) => {
    if (articles.length === 0) return
    await until(
      async () => {
        const indexer = openIndexer(pool, SEGMENT_THREAD)
        await openArticleWriter({ pool, indexer, embedDelay: 3_600_000 })
          .write(articles)
          .finally(() => indexer.close())
        return true
      },
      60_000,
      fleet.logs,
    )
  }
  const index = async (...titles: string[]) => {
    await put(titles.map((title, at) => aged(title, written.length + at)))
    written.push(...titles)
  }
  const titled = (count: number) =>
    Array.from({ length: count }, (_, at) => {
      const age = random.pick(Object.keys(AGES))
      return `${random.pick(WORDS)} nummer${written.length + at} ${age}`
    })
  for (const [at, word] of [...WORDS, 'brug', 'sluis'].entries()) {
    const id = await send('POST', '', { search: `q=${word}`, name: word })
    const when = at < WORDS.length ? 'at once' : '03:30'
    const days = at % 2 === 0 ? DAYS : null
    await send('PUT', `/${id}/alert`, {
      to: `${to}${at}`,
      when,
      time_zone: 'Europe/Brussels',
      published_within_days: days,
    })
    alerts.push({ id, word, from: written.length, when, to: `${to}${at}`, days })
  }

  const leaving = await createKey(pool, 'test', PLAN)
  const left = { id: await send('POST', '', { search: 'q=brug', name: 'left' }, leaving.secret) }
  await send('PUT', `/${left.id}/alert`, { to: `${to}left`, when: 'at once' }, leaving.secret)
  let whenLeft = 0

  /** All clocks of alerts are set on: what waits for its hour has it. */
  const pass = async (span: string) => {
    await superuser(
      `update search_alerts set due_at = due_at - interval '${span}', failing_since = failing_since - interval '${span}'`,
    )
    await superuser(
      `update alert_messages set try_at = try_at - interval '${span}', created_at = created_at - interval '${span}'`,
    )
  }
  const kill = async (service: ServiceName) => {
    const running = fleet.members.filter(
      ({ service: own, process }) =>
        own === service && process.exitCode === null && process.signalCode === null,
    )
    const one = random.pick(running)
    one.process.kill('SIGKILL')
    await one.exited
    await start(service)
  }
  const acts = {
    write: () => index(...titled(1 + random.below(5))),
    'write many': () => index(...titled(240)),
    // What is known keeps its date.
    'write again, with other dates': () =>
      put(written.map((title, at) => aged(title, at, random.pick(Object.values(AGES))))),
    'kill a notifier': () => kill('notifier'),
    'kill the API': () => kill('api'),
    async 'restart Postgres'() {
      if (cluster.current() === cluster.primary) await cluster.failOver().then(() => door.shut())
      else await cluster.restart()
      door.open()
    },
    'empty Redis': async () => redis.flush(),
    async 'cut connections'() {
      door.shut()
      await pause(random.below(2_000))
      door.open()
    },
    async 'a receiver fails'() {
      fate.next = () => random.pick([200, 500, 503, 'hang', 'gone', 302])
    },
    async 'a receiver is gone for an hour'() {
      fate.next = () => 'gone'
      await index(...titled(6))
      await pause(5_000)
      await pass('1 hour')
      fate.next = () => 200
    },
    'a day passes': () => pass('1 day').then(() => pause(4_000)),
    async 'revoke a key'() {
      await until(async () => (await revokeKey(pool, leaving.key.id)) !== null, 60_000, fleet.logs)
      whenLeft = written.length
    },
    async 'change an address'() {
      const { id, to, days } = random.pick(alerts.slice(0, WORDS.length))
      await send('PUT', `/${id}/alert`, {
        to: `${to}/other`,
        when: 'at once',
        published_within_days: days,
      })
    },
  }
  const names = Object.keys(acts) as (keyof typeof acts)[]
  const history = random.shuffled([
    ...names,
    ...Array<'write'>(3).fill('write'),
    'kill a notifier',
    'restart Postgres',
  ])
  for (const name of history as (keyof typeof acts)[]) {
    t.comment(name)
    await acts[name]()
    await pause(random.below(1_500))
  }
  fate.next = () => 200
  const expected = ({ word, from, days }: (typeof alerts)[number]) =>
    written.slice(from).filter(title => title.startsWith(word) && (days === null || !isOld(title)))
  const told = () => received.map(({ json, path }) => ({ ...json, path }))
  const toldTo = ({ id }: { id: string }) => told().filter(({ search }) => search.id === id)
  const titlesTo = (alert: { id: string }) => [
    ...new Set(toldTo(alert).flatMap(({ articles }) => articles.map(({ title }) => title))),
  ]
  const counted = (alert: { id: string }) => {
    const messages = new Map(toldTo(alert).map(message => [message.id, message]))
    return [...messages.values()].reduce(
      (sum, { articles, more }) => sum + articles.length + more,
      0,
    )
  }
  // What hangs has failed by then; what failed for a day rests, until an operator has it try again.
  await pause(11_000)
  await fleet.script('alerts', 'retry', '--all')
  await pass('1 day')
  const end = Date.now() + QUIET
  const isAll = () =>
    alerts.every(alert =>
      alert.when === 'at once'
        ? titlesTo(alert).length >= expected(alert).length
        : counted(alert) >= expected(alert).length,
    )
  while (!isAll() && Date.now() < end) {
    await pause(3_000)
    await pass('1 day')
  }
  if (!isAll()) t.comment(fleet.logs())
  for (const alert of alerts) {
    if (alert.when === 'at once')
      t.strictSame(titlesTo(alert), expected(alert), `${alert.word}: all, in order`)
    else
      t.equal(
        counted(alert),
        expected(alert).length,
        `${alert.word}: a digest tells or counts each once`,
      )
  }
  for (const [id, same] of Map.groupBy(told(), message => message.id)) {
    t.equal(
      new Set(same.map(one => JSON.stringify({ ...one, path: '' }))).size,
      1,
      `${id} is repeated as it was`,
    )
  }
  const copies = told().flatMap(({ id, path, search, articles }) =>
    articles.map(({ title }) => ({ id, of: `${path} ${search.id} ${title}` })),
  )
  const late = titlesTo(left).filter(title => written.indexOf(title) >= whenLeft)
  t.strictSame(
    [...late, ...(await superuser(`select from search_alerts where key_id = '${leaving.key.id}'`))],
    [],
    'a revoked key is told nothing more, and has no alert',
  )
  const twice = [...Map.groupBy(copies, ({ of }) => of).values()].filter(
    all => new Set(all.map(one => one.id)).size > 1,
  )
  t.strictSame(twice, [], 'what is told again has the id that it had')
})
