import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createTestDatabase } from '../../database.ts'
import { createFleet, freePort, until } from '../../fleet.ts'
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
 * @param folder for catalogues
 * @param limit ms that the honest outlets may take at most
 */
export async function race(
  folder: string,
  greed: Greed,
  settings: Record<string, string>,
  limit: number,
): Promise<Race> {
  const sites = await startSites(await freePort(), greed)
  try {
    const alone = await timeOf(folder, sites, [], settings, limit)
    const beside = await timeOf(folder, sites, sites.greedy, settings, limit)
    return { alone: alone.took, beside: beside.took, greedy: beside.greedy }
  } finally {
    await sites.close()
  }
}

/** ms in which the greedy outlets are alone and take what they can get. */
const HEAD_START = 15_000

async function timeOf(
  folder: string,
  sites: Sites,
  greedy: object[],
  settings: Record<string, string>,
  limit: number,
): Promise<{ took: number; greedy: string }> {
  const database = await createTestDatabase()
  const fleet = createFleet({
    ...{ DATABASE_URL: database.url, CRAWL_ALLOW_PRIVATE: '127.0.0.0/8', CRAWL_HOST_DELAY: '500ms', LOG_LEVEL: 'warn' },
    ...settings,
  })
  const file = join(folder, 'outlets.json')
  const sync = async (outlets: object[]) => {
    await writeFile(file, JSON.stringify({ outlets }))
    await fleet.script('outlets', 'sync', file)
  }
  const honest = `select count(*)::int as n from articles a join article_texts t using (seq) where t.url like 'http://127.20.%'`
  try {
    await fleet.start('normaliser')
    await fleet.start('crawler')
    if (greedy.length > 0) {
      await sync(greedy)
      await until(async () => Number((await database.query('select count(*) as n from pages'))[0]?.n) > 0, 60_000)
      await new Promise(resolve => setTimeout(resolve, HEAD_START))
    }
    await sync([...greedy, ...sites.honest])
    const begun = performance.now()
    await until(
      async () => Number((await database.query(honest))[0]?.n) === HONEST * ARTICLES,
      limit,
      () => fleet.members.map(member => member.log().slice(-3_000)).join('\n'),
    )
    const took = performance.now() - begun
    return { took, greedy: greedy.length === 0 ? '' : await fleet.script('outlets', 'list') }
  } finally {
    await fleet.stop()
    await database.drop()
  }
}
