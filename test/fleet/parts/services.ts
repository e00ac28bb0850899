import { fileURLToPath } from 'node:url'
import { QUICK_SETTINGS } from '#test/faults/machine/machine'
import { type ServiceName, until } from '#test/fleet'
import type { Box } from '#test/fleet/hosts/box'
import type { Host } from '#test/fleet/hosts/host'

const START_MS = 60_000

/**
 * Starts a process of a service on a host, as the Procfile does.
 *
 * @param name one of its kind on the host: `normaliser-0`
 * @returns the address of an API; empty for the other services
 */
export async function startService(
  box: Box,
  host: Host,
  service: ServiceName,
  name: string,
  env: Record<string, string>,
): Promise<string> {
  const port = service === 'api' ? String(box.network.port(8080)) : ''
  await host.start({
    name,
    command: process.execPath,
    args: [fileURLToPath(new URL(`../../../services/${service}/main.ts`, import.meta.url))],
    env: {
      ...QUICK_SETTINGS,
      CRAWL_ALLOW_PRIVATE: box.network.range,
      HOST: host.address,
      METRICS_HOST: host.address,
      ...(port && { PORT: port }),
      ...env,
    },
  })
  if (port === '') return ''
  const base = `http://${host.address}:${port}`
  const answers = async () =>
    (await fetch(`${base}/healthz`, { signal: AbortSignal.timeout(2_000) })).ok
  await until(answers, START_MS, () => `${host.name}/${name} does not start; see its log.`)
  return base
}
