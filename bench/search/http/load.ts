import autocannon from 'autocannon'

export interface Load {
  requests: number
  perSecond: number
  /** ms of every answer. */
  times: number[]
  /** Answers other than 200, and connections that broke. */
  failures: number
}

/** A path, or one with headers of its own. */
export type Asked = string | { path: string; headers: Record<string, string> }

/**
 * Requests the paths one after the other on each connection. Each connection starts at another
 * path.
 *
 * @param good statuses that are no failures
 */
export function load(
  base: string,
  key: string,
  paths: Asked[],
  connections: number,
  until: { seconds: number } | { requests: number },
  signal: AbortSignal,
  good: number[] = [200],
): Promise<Load> {
  const times: number[] = []
  const authorization = `Bearer ${key}`
  const requests = paths.map(asked => {
    const { path, headers } = typeof asked === 'string' ? { path: asked, headers: {} } : asked
    return { method: 'GET' as const, path, headers: { authorization, ...headers } }
  })
  let failures = 0
  let begun = 0
  return new Promise((resolve, reject) => {
    const instance = autocannon(
      {
        url: base,
        connections,
        requests,
        setupClient(client) {
          const at = Math.floor((begun++ * paths.length) / connections)
          client.setRequests([...requests.slice(at), ...requests.slice(0, at)])
          // Each request follows the answer before it. autocannon's own times are those of earlier
          // requests when its queue was once longer.
          let asked = performance.now()
          client.on('response', () => {
            const now = performance.now()
            times.push(now - asked)
            asked = now
          })
        },
        ...('seconds' in until ? { duration: until.seconds } : { amount: until.requests }),
      },
      (error, result) => {
        signal.removeEventListener('abort', stop)
        if (signal.aborted) reject(signal.reason)
        else if (error) reject(error)
        else
          resolve({
            requests: times.length,
            perSecond: times.length / result.duration,
            times,
            failures: failures + result.errors,
          })
      },
    )
    const stop = () => instance.stop?.()
    signal.addEventListener('abort', stop, { once: true })
    instance.on('response', (_client, status) => {
      if (!good.includes(status)) failures++
    })
  })
}
