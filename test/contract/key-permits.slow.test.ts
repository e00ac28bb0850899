import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { createKey } from '#shared/plans/keys'
import { holdLock, lockWaits } from '#test/database'
import { until } from '#test/fleet'
import { createWorld } from '#test/semantic/world'
import { ask, PLAN } from './api.ts'

const world = await createWorld(t)
const issue = (quota: number | null) => createKey(world.pool, 'test', { ...PLAN, quota })

await world.index(
  Array.from({ length: 5 }, (_, n) => ({
    title: `water ${n}`,
    outlet: { name: 'De Dag', domain: 'dag.example' },
  })),
)
await world.fleet.start('embedder')
await world.embedded(5, 90_000)

/**
 * Searches of either kind of answer that read the sets of semantic search. All others find what
 * they need in memory.
 */
const slowPath = (n: number) =>
  `${['/v1/articles', '/v1/articles.rss'][n % 2]}?search=semantic&q=water+${n}`

/** Locks the sets of semantic search. The returned function unlocks them. */
async function holdSets(): Promise<() => Promise<void>> {
  const release = await holdLock(world.pool, 'lock table semantic_sets in access exclusive mode')
  t.teardown(release)
  return release
}

t.test('slow searches of one key leave connections for all others', async t => {
  await world.fleet.start('api')
  const base = world.fleet.base()
  const slow = await issue(null)
  const other = await issue(null)
  const quick = [
    '/v1/articles',
    '/v1/articles?q=water',
    '/v1/articles.rss',
    '/v1/articles?outlet=dag',
  ]
  for (const path of quick) t.equal((await ask(base + path, other.secret)).status, 200, path)

  const release = await holdSets()
  const searches = Array.from({ length: 30 }, (_, n) => ask(base + slowPath(n), slow.secret))
  await until(async () => (await lockWaits(world.pool)) >= 2, 60_000)
  for (let round = 0; round < 5; round++) {
    for (const path of quick) {
      const { status, json } = await ask(base + path, other.secret)
      t.equal(status, 200, `${path}: without turns it fails after five seconds`)
      if (json) t.equal(json.articles.length, 5)
    }
  }
  t.ok((await lockWaits(world.pool)) < world.config.DATABASE_POOL / 2)
  await release()
  t.strictSame(
    [...new Set((await Promise.all(searches)).map(({ status }) => status))],
    [200],
    'none was refused',
  )
})

t.test('questions that wait for the model hold up no other search of their key', async t => {
  const base = world.fleet.base()
  const { secret } = await issue(null)
  t.equal((await ask(`${base}/v1/articles?q=water`, secret)).status, 200)
  // Less than a question may take.
  world.model.delay = 1_000
  t.teardown(() => {
    world.model.delay = 0
  })
  let beside = 0
  // On a busy machine, the questions may be answered before the searches are.
  for (let round = 0; round < 20 && beside === 0; round++) {
    let answered = 0
    const questions = [1, 2, 3, 4].map(n =>
      ask(`${base}/v1/articles?search=semantic&q=beside+${round}+${n}`, secret).finally(
        () => answered++,
      ),
    )
    await until(() => answered > 0 || world.model.underWay === 4, 30_000)
    for (const path of ['/v1/articles?q=water', '/v1/articles.rss?q=water']) {
      t.equal((await ask(base + path, secret)).status, 200)
      if (world.model.underWay === 4) beside++
    }
    for (const { status } of await Promise.all(questions)) t.ok([200, 503].includes(status))
  }
  t.ok(beside > 0, 'searches were answered while four questions were with the model')
})

for (const [what, lock, path] of [
  ['whose minute is busy', 'select from rate_windows where key_id = $1 for update', '/v1/articles'],
  ['whose month is busy', 'select from quota_months where key_id = $1 for update', '/v1/articles'],
  [
    'that asks for much completeness',
    'lock table outlet_days in access exclusive mode',
    '/explore/coverage',
  ],
] as const) {
  t.test(`a key ${what} leaves connections for all others`, async t => {
    const base = world.fleet.base()
    const busy = await issue(1_000)
    const other = await issue(1_000)
    for (const { secret } of [busy, other])
      t.equal((await ask(`${base}/v1/articles`, secret)).status, 200)
    const release = await holdLock(world.pool, lock, lock.includes('$1') ? [busy.key.id] : [])
    const requests = Array.from({ length: 30 }, () => ask(base + path, busy.secret))
    // One statement counts all that came together.
    await until(async () => (await lockWaits(world.pool)) >= 1, 60_000)
    for (let i = 0; i < 5; i++)
      t.equal((await ask(`${base}/v1/articles`, other.secret)).status, 200)
    t.ok((await lockWaits(world.pool)) < world.config.DATABASE_POOL / 2)
    await release()
    t.strictSame([...new Set((await Promise.all(requests)).map(({ status }) => status))], [200])
  })
}

t.test('the work of a request ends when its client leaves, in Postgres too', async t => {
  const base = world.fleet.base()
  const { secret } = await issue(null)
  for (const [table, path] of [
    ['outlet_days', '/explore/coverage'],
    ['kept_searches', '/explore/searches'],
    ['search_feeds', '/explore/feeds'],
    ['outlet_sets', '/explore/outlet-sets'],
    ['outlet_sets', '/v1/articles?outlets=papers'],
    ['citations', `/cite/${'0'.repeat(64)}.json`],
  ]) {
    const release = await holdLock(world.pool, `lock table ${table} in access exclusive mode`)
    t.teardown(release)
    const leaves = new AbortController()
    const asked = ask(base + path, secret, { signal: leaves.signal })
    await until(async () => (await lockWaits(world.pool)) === 1, 60_000)
    leaves.abort()
    await t.rejects(asked)
    await until(async () => (await lockWaits(world.pool)) === 0, 10_000, `${path} goes on`)
    await release()
  }
})

t.test('questions whose clients leave never reach the model, and say nothing about it', async t => {
  const base = world.fleet.base()
  world.model.delay = 600
  t.teardown(() => {
    world.model.delay = 0
  })
  for (const round of [1, 2, 3]) {
    // Keys that have asked much would rest.
    const keys = [await issue(null), await issue(null)]
    const leaves = new AbortController()
    const before = world.model.requests.length
    const questions = keys.flatMap(({ secret }, key) =>
      [1, 2, 3, 4].map(n =>
        ask(`${base}/v1/articles?search=semantic&q=left+${round}+${key}+${n}`, secret, {
          signal: leaves.signal,
        }),
      ),
    )
    await until(() => world.model.underWay === 4, 30_000)
    await pause(450)
    leaves.abort()
    await Promise.allSettled(questions)
    await until(() => world.model.underWay === 0, 30_000)
    t.equal(world.model.requests.length - before, 4)
  }
  const stays = await issue(null)
  const { status } = await ask(`${base}/v1/articles?search=semantic&q=stays`, stays.secret)
  t.equal(status, 200)
})

t.test(
  'who waits for a turn too long is answered as who searches too long, and pays nothing',
  async t => {
    const member = await world.fleet.start('api', { SEARCH_TIMEOUT: '1s' })
    const base = `http://127.0.0.1:${portOf(member.log())}`
    const { secret } = await issue(100)
    const release = await holdSets()
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, n) => ask(base + slowPath(2 * n), secret)),
    )
    for (const { status, json, headers } of answers) {
      t.equal(status, 500)
      t.equal(json.code, 'internal_error')
      t.equal(headers.get('x-quota-remaining'), '100')
    }
    const hadNoTurn = answers.some(({ json }) => /came before/.test(json.message))
    t.ok(hadNoTurn, 'some had no turn')
    await release()
    t.equal((await ask(base + slowPath(0), secret)).status, 200, 'no turn is lost')
  },
)

/** The port in the API's log. */
function portOf(log: string): number {
  return Number(/"port":(\d+),"msg":"listening"/.exec(log)?.[1])
}
