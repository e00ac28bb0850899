import { chown, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { QueryResultRow } from 'pg'
import { ask } from '#test/database'
import { until } from '#test/fleet'
import type { Box } from '#test/fleet/hosts/box'
import type { Host, Program } from '#test/fleet/hosts/host'
import type { PatroniPrograms } from '#test/fleet/programs/patroni'
import type { LogArchive } from '#test/recovery/log-archive'
import { run } from '#test/script'
import type { EtcdMember } from './etcd.ts'
import { filledSettings, operatorsFile } from './operators-file.ts'

const START_MS = 120_000
const ANSWER_MS = 2_000

/** Accounts of Postgres; the passwords are the run's own. */
export const ACCOUNTS = {
  SUPERUSER: 'postgres',
  REPLICATION: 'replicator',
  REWIND: 'rewinder',
} as const
export const PASSWORD = 'of-the-run'

/** One Postgres that Patroni runs. */
export interface PatroniMember {
  host: Host
  /** Where Postgres listens. */
  port: number
  rest: string
  /** Its data folder. */
  data: string
  /** Starts Patroni again, after `host.stop('patroni')`. */
  start(): Promise<void>
  /** Runs `patronictl`, as an operator does. */
  control(words: readonly string[], answers?: string): Promise<string>
  role(): Promise<'primary' | 'standby' | null>
}

/** `patronictl` writes its reasons to both outputs. */
function withOutput(error: Error & { stdout?: string; stderr?: string }): never {
  throw new Error(`${error.message}: ${error.stdout}${error.stderr}`, { cause: error })
}

/** How a member is seen in `GET /cluster`. */
interface SeenMember {
  name: string
  role: string
  state: string
  timeline?: number
  lag?: number | string
}

/**
 * Starts Patroni on each host (`infra/ha/postgres/patroni.yml`): the first becomes the primary, and
 * the others copy it. All archive their log.
 *
 * @param advertised where others reach a host's Postgres; another address than the host's own leads
 * replication through a link
 */
export async function startPatroni(
  box: Box,
  programs: PatroniPrograms,
  hosts: readonly Host[],
  etcd: readonly EtcdMember[],
  archive: LogArchive,
  advertised: (host: Host) => string = host => host.address,
): Promise<PatroniMember[]> {
  const members: PatroniMember[] = []
  for (const host of hosts) {
    const member = await startMember(box, programs, host, etcd, archive, advertised(host))
    members.push(member)
    if (members.length === 1) await untilRole(member, 'primary')
  }
  for (const member of members.slice(1)) await untilRole(member, 'standby')
  await untilSynchronous(members)
  return members
}

/** Asks a member's own server. */
export const askSuperuser = (
  { host, port }: PatroniMember,
  sql: string,
  database = 'postgres',
): Promise<QueryResultRow[]> =>
  ask(
    `postgres://${ACCOUNTS.SUPERUSER}:${PASSWORD}@${host.address}:${port}/${database}`,
    sql,
    60_000,
  )

/** Waits until a member has that role. */
export const untilRole = (member: PatroniMember, role: 'primary' | 'standby'): Promise<void> =>
  until(
    async () => (await member.role()) === role,
    START_MS,
    `${member.host.name} does not become a ${role}; see its log.`,
  )

async function startMember(
  box: Box,
  programs: PatroniPrograms,
  host: Host,
  etcd: readonly EtcdMember[],
  archive: LogArchive,
  advertised: string,
): Promise<PatroniMember> {
  const { owner } = programs
  const home = join(host.folder, 'postgres')
  await mkdir(home, { mode: 0o700 })
  if (owner) await chown(home, owner.uid, owner.gid)
  const data = join(home, 'data')
  box.family.sweep(data)
  const port = box.network.port(5432)
  const rest = `${host.address}:${box.network.port(8008)}`
  const accounts = Object.entries(ACCOUNTS).flatMap(([part, name]) => [
    [`PATRONI_${part}_USERNAME`, name],
    [`PATRONI_${part}_PASSWORD`, PASSWORD],
  ])
  const program: Program = {
    name: 'patroni',
    command: programs.command,
    args: [...programs.args, operatorsFile('postgres/patroni.yml')],
    owner,
    env: {
      ...programs.env,
      HOME: home,
      ...filledSettings('postgres/patroni-host.env', {
        ...Object.fromEntries(accounts),
        PATRONI_NAME: host.name,
        PATRONI_ETCD3_HOSTS: etcd.map(({ url }) => new URL(url).host).join(','),
        PATRONI_RESTAPI_LISTEN: rest,
        PATRONI_RESTAPI_CONNECT_ADDRESS: rest,
        PATRONI_POSTGRESQL_LISTEN: `${host.address}:${port}`,
        PATRONI_POSTGRESQL_CONNECT_ADDRESS: `${advertised}:${port}`,
        PATRONI_POSTGRESQL_DATA_DIR: data,
        PATRONI_POSTGRESQL_BIN_DIR: programs.postgres,
        PATRONI_POSTGRESQL_PGPASS: join(home, 'pgpass'),
        PATRONICTL_CONFIG_FILE: operatorsFile('postgres/patroni.yml'),
        PERSCOPE_ARCHIVE: archive.folder,
        PERSCOPE_ARCHIVE_WAL: archive.program,
      }),
    },
  }
  const start = () => host.start(program)
  await start()
  return {
    host,
    port,
    rest: `http://${rest}`,
    data,
    start,
    async control(words: readonly string[], answers = ''): Promise<string> {
      const script = 'from patroni.ctl import ctl; ctl(obj=None)'
      const running = run(programs.command, ['-c', script, ...words], {
        env: { PATH: process.env.PATH, ...program.env },
      })
      running.child.stdin?.end(answers)
      return (await running.catch(withOutput)).stdout
    },
    async role(): Promise<'primary' | 'standby' | null> {
      const is = async (path: string) =>
        (await fetch(`http://${rest}/${path}`, { signal: AbortSignal.timeout(ANSWER_MS) })).ok
      try {
        if (await is('primary')) return 'primary'
        return (await is('replica')) ? 'standby' : null
      } catch {
        return null
      }
    },
  }
}

/** The cluster as that member sees it. One that was cut off remembers what was before. */
async function seenFrom({ rest }: PatroniMember): Promise<SeenMember[]> {
  const answer = await fetch(`${rest}/cluster`, { signal: AbortSignal.timeout(ANSWER_MS) })
  const body: { members: SeenMember[] } = JSON.parse(await answer.text())
  return body.members
}

/** Waits until each standby streams from the one primary, and one of them is synchronous. */
export async function untilSynchronous(
  members: readonly PatroniMember[],
  within: number = START_MS,
): Promise<void> {
  let seen: SeenMember[] = []
  const isWhole = async () => {
    const roles = await Promise.all(members.map(member => member.role()))
    const primary = members[roles.indexOf('primary')]
    seen = primary ? await seenFrom(primary) : []
    const standbys = seen.filter(({ role }) => role !== 'leader')
    return (
      roles.filter(role => role === 'standby').length === members.length - 1 &&
      standbys.length === members.length - 1 &&
      standbys.every(({ state }) => state === 'streaming') &&
      standbys.some(({ role }) => role === 'sync_standby')
    )
  }
  await until(isWhole, within, () => `The cluster does not become whole: ${JSON.stringify(seen)}`)
}

/**
 * Hands the primary's role to the synchronous standby, as `patronictl switchover` does. Patroni
 * refuses (412) while it chooses a synchronous standby anew; an operator tries again.
 */
export async function switchOver(primary: PatroniMember): Promise<void> {
  let refusal = ''
  const isDone = async () => {
    const answer = await fetch(`${primary.rest}/switchover`, {
      method: 'POST',
      body: JSON.stringify({ leader: primary.host.name }),
      signal: AbortSignal.timeout(START_MS),
    })
    refusal = answer.ok ? '' : `${answer.status}: ${await answer.text()}`
    return answer.ok
  }
  await until(isDone, START_MS, () => `The switchover failed with ${refusal}`)
}

/** The member that is the primary; undefined while there is none. */
export async function primaryOf(
  members: readonly PatroniMember[],
): Promise<PatroniMember | undefined> {
  const roles = await Promise.all(members.map(member => member.role()))
  return members[roles.indexOf('primary')]
}
