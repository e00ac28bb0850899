import type { Test } from 'tap'
import type { Standbys } from '../../search/index.ts'
import { followHistory } from '../../services/api/reading/history.ts'
import { openStandbys } from '../../services/api/reading/servers.ts'
import { createLogger } from '../../shared/log/logger.ts'
import { createPool, type Pool } from '../../shared/postgres/pool.ts'
import { PATIENT } from '../database.ts'

/**
 * Addresses of a test's database on the standbys that the test run reads from. TEST_READ_URL names
 * their servers, as DATABASE_URL names the primary's; without it tests read from the primary alone.
 */
export function readUrlsOf(databaseUrl: string): string[] {
  const servers = (process.env.TEST_READ_URL ?? '').split(',').filter(server => server !== '')
  return servers.map(server => {
    const url = new URL(server)
    url.pathname = new URL(databaseUrl).pathname
    return url.href
  })
}

/** For tests that open an index without an API. */
export interface TestReading {
  /** Of the primary. */
  pool: Pool
  standbys: Standbys | undefined
  close(): Promise<void>
}

/**
 * Opens a pool of the primary, and the standbys that the test run reads from.
 *
 * @param test closes them when it ends; null: the caller does
 */
export function openTestReading(
  test: Pick<Test, 'teardown'> | null,
  databaseUrl: string,
  options: Parameters<typeof createPool>[3] = {},
): TestReading {
  const reading = open(databaseUrl, options)
  test?.teardown(reading.close)
  return reading
}

function open(databaseUrl: string, options: Parameters<typeof createPool>[3]): TestReading {
  const urls = readUrlsOf(databaseUrl)
  const own = { ...PATIENT, ...options }
  if (urls.length === 0) {
    const pool = createPool(databaseUrl, 'test', () => {}, own)
    return { pool, standbys: undefined, close: () => pool.end() }
  }
  const history = followHistory(() => pool)
  const pool: Pool = createPool(databaseUrl, 'test', () => {}, { ...own, onConnect: one => history.look(one) })
  const standbys = openStandbys(urls, 8, history, createLogger('test', 'silent'))
  return {
    pool,
    standbys,
    async close() {
      await standbys.close()
      await pool.end()
    },
  }
}
