import { createServer } from 'node:net'
import { registry } from '../../../shared/log/registry.ts'
import type { Missing } from '../../../shared/process/health.ts'
import type { Running, ServiceContext } from '../../../shared/process/service.ts'
import { listen, trustProxy } from '../http/address.ts'
import { HTTP_LIMITS } from '../http/server.ts'
import { createDispatcher } from './dispatch.ts'
import type { ApiProcess } from './process.ts'
import { createProcesses, replaceAll, startProcesses, stopProcesses } from './processes.ts'

/**
 * The primary of several processes: it opens the port, gives them the connections, and starts those
 * again that end. It reads no request.
 *
 * Shows health and metrics of all. SIGUSR2 replaces the processes one after another.
 */
export async function startPrimary({ config, log }: ServiceContext, count: number): Promise<Running> {
  const { connections: total, connectionsPerAddress } = HTTP_LIMITS
  // Behind a proxy all clients have one address.
  const perAddress = trustProxy(config.TRUST_PROXY) === false ? connectionsPerAddress : total
  const dispatcher = createDispatcher({ total, perAddress })
  // Paused: the first byte of a request is for the process that answers it.
  const server = createServer({ pauseOnConnect: true }, dispatcher.admit)
  const processes = createProcesses({ count, config, log, dispatcher })
  process.on('exit', () => {
    for (const one of processes.all) one.kill()
  })
  process.on('SIGUSR2', () => void replaceAll(processes))
  registry.setDefaultLabels({ service: 'api', process: 'primary' })
  await startProcesses(processes)
  const port = await listen(server, config)
  log.info({ host: config.HOST, port, processes: count }, 'listening')
  return {
    missing: () => missingAmong([...processes.serving]),
    async metrics() {
      const texts = await Promise.all([registry.metrics(), ...[...processes.all].map(one => one.metrics())])
      return mergedMetrics(texts.filter(text => text !== null))
    },
    async stop() {
      server.close()
      await stopProcesses(processes)
    },
  }
}

/** Whatever one of the processes misses is missing. */
async function missingAmong(processes: ApiProcess[]): Promise<Missing> {
  if (processes.length === 0) return { processes: 'none is running' }
  const all = await Promise.all(
    processes.map(async one => (await one.missing()) ?? { [`process ${one.number}`]: 'does not answer' }),
  )
  return Object.assign({}, ...all)
}

/**
 * The metrics of several processes as one text in Prometheus' format, which allows each metric one
 * heading. The figures themselves differ by a label of their process: a sum would fall when a
 * process ends, which Prometheus would take for new counts.
 */
export function mergedMetrics(texts: string[]): string {
  const metrics = new Map<string, { heading: string; samples: string[] }>()
  for (const text of texts) {
    for (const block of text.split(/^(?=# HELP )/m)) {
      const lines = block.split('\n').filter(line => line !== '')
      const heading = lines.filter(line => line.startsWith('#'))
      const name = heading[0]?.split(' ')[2]
      if (name === undefined) continue
      const known = metrics.get(name) ?? { heading: heading.join('\n'), samples: [] }
      known.samples.push(...lines.slice(heading.length))
      metrics.set(name, known)
    }
  }
  return [...metrics.values()].map(({ heading, samples }) => `${[heading, ...samples].join('\n')}\n`).join('\n')
}
