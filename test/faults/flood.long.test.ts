import t from 'tap'
import { STORED_SHARE } from '#services/crawler/hosts/budgets'
import { createLogger } from '#shared/log/logger'
import { openQueues } from '#shared/queues/queues'
import { startFleet, until } from '#test/fleet'
import { FLOODED, startFloodSite } from './pressure/flood-site.ts'
import { memoryOf, slowProcess } from './pressure/processes.ts'

const HOSTS = 10
const PAGES = HOSTS * 2_000
/**
 * Stored pages beyond which the crawler fetches no more of any outlet's, and what it has under way
 * when it notices.
 */
const BACKLOG = HOSTS * STORED_SHARE
const UNDER_WAY = 1_000
/** MB; several times what the processes hold when idle. */
const MEMORY = { crawler: 500, normaliser: 1_400, embedder: 500, api: 500 }

t.test(
  '20,000 pages for a slow normaliser wait in Postgres; memory and queues stay small',
  async t => {
    const site = await startFloodSite(HOSTS)
    t.teardown(site.close)
    const { database, fleet } = await startFleet(t, FLOODED)
    const queues = openQueues(
      { DATABASE_URL: database.url, REDIS_URL: '' },
      createLogger('test', 'silent'),
    )
    let speedUp = () => {}
    t.teardown(async () => {
      speedUp()
      await queues.close()
    })
    await fleet.sync(site.catalogue)
    await fleet.start('api')
    const normaliser = await fleet.start('normaliser')
    await fleet.start('crawler')
    speedUp = slowProcess(normaliser.process, 0.1)

    const most = {
      crawler: 0,
      normaliser: 0,
      embedder: 0,
      notifier: 0,
      api: 0,
      stored: 0,
      queued: 0,
    }
    const look = async () => {
      for (const { service, process } of fleet.members)
        most[service] = Math.max(most[service], memoryOf(process))
      const states = await database.query(
        'select state, count(*)::int as n from pages group by state',
      )
      const pages: Record<string, number> = {}
      for (const { state, n } of states) pages[String(state)] = Number(n)
      const { waiting, active } = (await queues.counts()).normalise
      most.stored = Math.max(most.stored, pages.stored ?? 0)
      most.queued = Math.max(most.queued, waiting + active)
      return pages
    }
    const began = performance.now()
    const minutes = () => ((performance.now() - began) / 60_000).toFixed(1)
    await until(
      async () => Object.values(await look()).reduce((sum, n) => sum + n, 0) === PAGES,
      600_000,
    )
    await until(async () => ((await look()).stored ?? 0) >= BACKLOG * 0.9, 900_000)
    const held = performance.now() + 20_000
    while (performance.now() < held) {
      await look()
      await new Promise(resolve => setTimeout(resolve, 1_000))
    }
    const pages = await look()
    t.comment(
      `after ${minutes()} minutes: ${JSON.stringify(pages)}, at most ${JSON.stringify(most)}`,
    )
    t.ok(most.stored <= BACKLOG + UNDER_WAY, `${most.stored} stored pages at most`)
    t.ok(most.queued <= BACKLOG + UNDER_WAY, `${most.queued} messages at most`)
    t.ok((pages.waiting ?? 0) > PAGES / 3, 'the others wait')

    speedUp()
    speedUp = () => {}
    const told = () => `at most ${JSON.stringify(most)}`
    await until(async () => (await look()).done === PAGES, 1_200_000, told)
    t.comment(`after ${minutes()} minutes all are done; ${told()}`)
    for (const service of ['crawler', 'normaliser', 'api'] as const)
      t.ok(most[service] < MEMORY[service], `the ${service} held ${most[service]} MB at most`)
    const [row] = await database.query(
      'select count(*)::int as n, count(distinct id)::int as ids from articles',
    )
    t.same(row, { n: PAGES, ids: PAGES })
    t.equal(site.fetched(), PAGES, 'each page was fetched once')
  },
)
