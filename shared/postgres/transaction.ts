import type { Client, Pool } from './pool.ts'

/**
 * Runs `work` in one transaction: committed when it resolves, rolled back when it throws. A
 * connection that failed is closed and not used again.
 */
export async function transaction<T>(pool: Pool, work: (client: Client) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  let broken: Error | undefined
  // Without a listener, a connection lost between two statements would end the process.
  const onError = (error: Error) => {
    broken = error
  }
  client.on('error', onError)
  try {
    await client.query('begin')
    const result = await work(client)
    await client.query('commit')
    return result
  } catch (error) {
    // Behind a query that is not answered, a rollback would wait just as long.
    if (isUnanswered(error)) broken = error
    else {
      await client.query('rollback').catch((rollbackError: Error) => {
        broken = rollbackError
      })
    }
    throw error
  } finally {
    client.off('error', onError)
    client.release(broken)
  }
}

/** The server did not answer within the query timeout of the pool (the driver's message). */
const isUnanswered = (error: unknown): error is Error =>
  error instanceof Error && error.message === 'Query read timeout'

/**
 * Lost connections, restarts, full servers and standbys: errors after which the same work may be
 * tried again.
 */
export function isTransient(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  if (/^(08|53|57P0|40001|40P01|25006|25P0[34]|55P03)/.test(code)) return true
  if (/^(ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOST|ENETUNREACH|ENOENT)/.test(code)) return true
  return /Connection terminated|Query read timeout|connection timeout|timeout exceeded when trying to connect|Client has encountered a connection error/i.test(
    error.message,
  )
}
