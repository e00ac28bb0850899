import { until } from '#test/fleet'
import type { Box } from '#test/fleet/hosts/box'
import type { Host } from '#test/fleet/hosts/host'
import { debianTool } from '#test/fleet/programs/debian'
import { filledSettings, operatorsFile } from './operators-file.ts'
import type { PatroniMember } from './patroni.ts'

const START_MS = 30_000

/**
 * Starts HAProxy on a host, with a file of `infra/ha/haproxy`.
 *
 * @param env what the file takes from its environment
 * @param name of the program on the host, where it has several
 */
export async function startHaproxy(
  host: Host,
  file: string,
  env: Record<string, string>,
  name = 'haproxy',
): Promise<void> {
  const tool = await debianTool('haproxy', 'haproxy')
  await host.start({
    name,
    command: tool.command,
    // -db: in the foreground.
    args: ['-db', '-f', operatorsFile(`haproxy/${file}`)],
    env: { ...tool.env, ...env },
  })
}

/**
 * Starts HAProxy before Postgres on a host of services.
 * @returns the addresses, HOST:PORT, of the primary and of the standbys
 */
export async function startPostgresProxy(
  box: Box,
  host: Host,
  members: readonly PatroniMember[],
): Promise<{ primary: string; standbys: string }> {
  const bound = (port: number) => `${host.address}:${box.network.port(port)}`
  const addresses = { primary: bound(5000), standbys: bound(5001) }
  // The file names three members. Where there are two, the third line repeats the second.
  const at = (index: number) => members[Math.min(index, members.length - 1)]?.host.address ?? ''
  const env = filledSettings('haproxy/postgres.env', {
    POSTGRES_PRIMARY_BIND: addresses.primary,
    POSTGRES_STANDBY_BIND: addresses.standbys,
    POSTGRES_1: at(0),
    POSTGRES_2: at(1),
    POSTGRES_3: at(2),
    POSTGRES_PORT: String(box.network.port(5432)),
    PATRONI_PORT: String(box.network.port(8008)),
    HAPROXY_STATS_BIND: bound(8404),
  })
  await startHaproxy(host, 'postgres.cfg', env)
  const hasStarted = async () => (await fetch(`http://${bound(8404)}/metrics`)).ok
  await until(hasStarted, START_MS, () => `HAProxy does not start on ${host.name}; see its log.`)
  return addresses
}
