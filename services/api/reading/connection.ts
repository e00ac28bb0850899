import pg from 'pg'
import type { Client, Pool } from '../../../shared/postgres/pool.ts'
import { unlessAborted } from '../../../shared/resilience/time-limit.ts'

/**
 * Runs work on a connection until the signal ends it. The connection is then closed, because its
 * statement may run on. So is a connection that failed otherwise than by an error of its statement.
 */
export async function withConnection<T>(
  pool: Pool,
  signal: AbortSignal,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const connecting = pool.connect()
  const client = await unlessAborted(connecting, signal).catch((error: unknown) => {
    // It may still come. Nobody waits for it any more.
    connecting.then(
      late => late.release(),
      () => {},
    )
    throw error
  })
  let isBroken = false
  // Without a listener, a connection lost between two statements would end the process.
  const onError = () => {
    isBroken = true
  }
  client.on('error', onError)
  try {
    return await unlessAborted(work(client), signal)
  } catch (error) {
    isBroken ||= signal.aborted || !(error instanceof pg.DatabaseError)
    throw error
  } finally {
    client.off('error', onError)
    client.release(isBroken)
  }
}
