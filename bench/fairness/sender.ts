import { setTimeout as pause } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { Pool } from 'undici'
import { inTurn } from '#bench/load'

/*
 * Sends a load from a thread of its own. On the thread that measures, the answers of a load would
 * hold up the measured ones.
 */

export interface Sent {
  method: 'GET' | 'POST'
  path: string
  body?: string
}

export interface SentLoad {
  base: string
  secret: string
  requests: Sent[]
  connections: number
}

const { base, secret, requests, connections }: SentLoad = workerData
const ended = new AbortController()
parentPort?.once('message', () => ended.abort())
parentPort?.postMessage(await sendAll(ended.signal))
parentPort?.close()

/**
 * Sends requests over all connections, without a pause. After a refusal, a connection waits as long
 * as the answer says, or until the load ends.
 */
async function sendAll(until: AbortSignal) {
  const pool = new Pool(base, { connections, headersTimeout: 0, bodyTimeout: 0 })
  const authorization = `Bearer ${secret}`
  const accept = 'application/json, text/event-stream'
  let good = 0
  let refused = 0
  let at = 0
  await inTurn(connections, until, async () => {
    const next = requests[at++ % requests.length]!
    const headers = { authorization, 'content-type': 'application/json', accept }
    try {
      const answer = await pool.request({ ...next, headers, signal: until })
      await answer.body.dump()
      if (answer.statusCode < 300) good++
      else refused++
      const seconds = Number(answer.headers['retry-after'] ?? 0)
      if (answer.statusCode === 429) await pause(seconds * 1_000, undefined, { signal: until })
    } catch (error) {
      if (!until.aborted) throw error
    }
  })
  await pool.destroy()
  return { good, refused }
}
