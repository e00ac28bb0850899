import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { createTestDatabase } from '#test/database'
import { createFleet, QUICK_CRAWL, until } from '#test/fleet'
import { ARTICLES, HONEST, type Sites, startSites } from './greedy-sites.ts'

/** ms in which the greedy outlets are alone and take what they can get. */
const HEAD_START = 15_000
/** ms that the honest outlets may take at most. */
const LIMIT = 200_000

t.test(
  'twenty honest outlets have their articles in twice the time at most beside four greedy ones',
  async t => {
    const sites = await startSites({
      tarpits: 250,
      big: 200,
      bigBytes: 2_000_000,
      bombs: 200,
      endless: 40,
    })
    t.teardown(() => sites.close())
    const alone = await timeOf(sites, [])
    const beside = await timeOf(sites, sites.greedy)
    t.comment(
      `alone ${Math.round(alone.took)} ms, beside greedy outlets ${Math.round(beside.took)} ms\n${beside.greedy}`,
    )
    t.ok(
      beside.took <= 2 * alone.took,
      `${Math.round(beside.took)} ms instead of ${Math.round(alone.took)} ms`,
    )
  },
)

/**
 * Lets one crawler and one normaliser work off the honest outlets.
 *
 * @param greedy outlets that have had time to fill every queue
 * @returns ms that the articles took, and the state of the greedy outlets then, in words
 */
async function timeOf(
  { honest }: Sites,
  greedy: object[],
): Promise<{ took: number; greedy: string }> {
  const { CRAWL_ALLOW_PRIVATE } = QUICK_CRAWL
  const database = await createTestDatabase()
  const fleet = createFleet({
    DATABASE_URL: database.url,
    CRAWL_ALLOW_PRIVATE,
    CRAWL_HOST_DELAY: '500ms',
    LOG_LEVEL: 'warn',
    CRAWL_TIMEOUT: '6s',
    NORMALISE_THREADS: '2',
    NORMALISE_TIMEOUT: '8s',
  })
  const stored = "articles a join article_texts t using (seq) where t.url like 'http://127.20.%'"
  try {
    await fleet.start('normaliser')
    await fleet.start('crawler')
    if (greedy.length > 0) {
      await fleet.sync({ outlets: greedy })
      await until(async () => (await database.count('pages')) > 0, 60_000)
      await sleep(HEAD_START)
    }
    await fleet.sync({ outlets: [...greedy, ...honest] })
    const begun = performance.now()
    await until(async () => (await database.count(stored)) === HONEST * ARTICLES, LIMIT, fleet.logs)
    const took = performance.now() - begun
    return { took, greedy: greedy.length === 0 ? '' : await fleet.script('outlets', 'list') }
  } finally {
    await fleet.stop()
    await database.drop()
  }
}
