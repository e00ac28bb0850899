import autocannon from 'autocannon'

export interface Load {
  requests: number
  perSecond: number
  /** ms of every answer. */
  times: number[]
  /** Answers other than 200, and connections that broke. */
  failures: number
}

/**
 * Requests the paths one after the other on each connection. Each connection starts at another
 * path.
 */
export function load(
  base: string,
  key: string,
  paths: string[],
  connections: number,
  until: { seconds: number } | { requests: number },
  signal: AbortSignal,
  headers: Record<string, string> = {},
): Promise<Load> {
  const times: number[] = []
  let failures = 0
  let begun = 0
  return new Promise((resolve, reject) => {
    const instance = autocannon(
      {
        url: base,
        connections,
        headers: { authorization: `Bearer ${key}`, ...headers },
        requests: paths.map(path => ({ method: 'GET' as const, path })),
        setupClient(client) {
          const at = Math.floor((begun++ * paths.length) / connections)
          client.setRequests([...paths.slice(at), ...paths.slice(0, at)].map(path => ({ method: 'GET', path })))
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
    instance.on('response', (_client, status, _bytes, ms) => {
      times.push(ms)
      if (status !== 200) failures++
    })
  })
}
