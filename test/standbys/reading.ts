import type { Test } from 'tap'
import type { Standbys } from '#search/types'
import { followHistory } from '#services/api/standbys/history'
import { openStandbys } from '#services/api/standbys/servers'
import { createLogger } from '#shared/log/logger'
import { createPool, type Pool } from '#shared/postgres/pool'
import { PATIENT } from '#test/database'

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

export interface TestReading {
  pool: Pool
  standbys: (Standbys & { close(): Promise<void> }) | undefined
  close(): Promise<void>
}

/**
 * Opens a pool of the primary, and the standbys that the test run reads from, for tests that open
 * an index without an API.
 *
 * @param test closes them when it ends; null: the caller does
 */
export function openTestReading(
  test: Pick<Test, 'teardown'> | null,
  databaseUrl: string,
  options: Parameters<typeof createPool>[3] = {},
): TestReading {
  const urls = readUrlsOf(databaseUrl)
  const history = followHistory(() => pool)
  const onConnect = history.look
  const own = { ...PATIENT, ...options, ...(urls.length > 0 && { onConnect }) }
  const pool: Pool = createPool(databaseUrl, 'test', () => {}, own)
  const standbys =
    urls.length > 0 ? openStandbys(urls, 8, history, createLogger('test', 'silent')) : undefined
  async function close(): Promise<void> {
    await standbys?.close()
    await pool.end()
  }
  test?.teardown(close)
  return { pool, standbys, close }
}
