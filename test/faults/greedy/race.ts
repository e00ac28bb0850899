import { createTestDatabase } from '../../database.ts'
import { createFleet, QUICK_CRAWL, until } from '../../fleet.ts'
import { ARTICLES, type Greed, HONEST, type Sites, startSites } from './sites.ts'

/** ms that the honest outlets' articles took. */
export interface Race {
  alone: number
  beside: number
  /** The state of the greedy outlets when the honest ones were done, in words. */
  greedy: string
}

/**
 * Lets one crawler and one normaliser work off the honest outlets, alone and then beside greedy
 * ones that have had time to fill every queue.
 *
 * @param limit ms that the honest outlets may take at most
 */
export async function race(greed: Greed, settings: Record<string, string>, limit: number): Promise<Race> {
  const sites = await startSites(greed)
  try {
    const alone = await timeOf(sites, [], settings, limit)
    const beside = await timeOf(sites, sites.greedy, settings, limit)
    return { alone: alone.took, beside: beside.took, greedy: beside.greedy }
  } finally {
    await sites.close()
  }
}

/** ms in which the greedy outlets are alone and take what they can get. */
const HEAD_START = 15_000

async function timeOf(
  { honest }: Sites,
  greedy: object[],
  settings: Record<string, string>,
  limit: number,
): Promise<{ took: number; greedy: string }> {
  const { CRAWL_ALLOW_PRIVATE } = QUICK_CRAWL
  const database = await createTestDatabase()
  const own = { DATABASE_URL: database.url, CRAWL_ALLOW_PRIVATE, CRAWL_HOST_DELAY: '500ms', LOG_LEVEL: 'warn' }
  const fleet = createFleet({ ...own, ...settings })
  const stored = "articles a join article_texts t using (seq) where t.url like 'http://127.20.%'"
  try {
    await fleet.start('normaliser')
    await fleet.start('crawler')
    if (greedy.length > 0) {
      await fleet.sync({ outlets: greedy })
      await until(async () => (await database.count('pages')) > 0, 60_000)
      await new Promise(resolve => setTimeout(resolve, HEAD_START))
    }
    await fleet.sync({ outlets: [...greedy, ...honest] })
    const begun = performance.now()
    await until(async () => (await database.count(stored)) === HONEST * ARTICLES, limit, fleet.logs)
    const took = performance.now() - begun
    return { took, greedy: greedy.length === 0 ? '' : await fleet.script('outlets', 'list') }
  } finally {
    await fleet.stop()
    await database.drop()
  }
}
