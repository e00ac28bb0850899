import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createPool } from '#shared/postgres/pool'
import { until } from '#test/fleet'
import type { Box } from '#test/fleet/hosts/box'
import {
  cutBetween,
  type Host,
  type Loss as HostLoss,
  mendBetween,
  since,
  strike,
} from '#test/fleet/hosts/host'
import { type Link, openLink } from '#test/fleet/links/link'
import { startEtcd } from '#test/fleet/parts/etcd'
import { type LogArchive, openArchive } from '#test/fleet/parts/log-archive'
import {
  askSuperuser,
  type PatroniMember,
  primaryOf,
  startPatroni,
  switchOver,
  untilSynchronous,
} from '#test/fleet/parts/patroni'
import { type Perscope, readsOfStandbys, startPerscope } from '#test/fleet/parts/perscope'
import { patroniPrograms } from '#test/fleet/programs/patroni'
import { type Load, startLoad } from './load.ts'
import type { Scenario, Stage } from './scenario.ts'

/** The promise: writes go on so soon after a host is lost. */
const WRITES_MS = 30_000
const PATIENCE_MS = 120_000
/** Between two losses: services and pollers go on undisturbed. */
const QUIET_MS = 8_000

const HOLDER = fileURLToPath(new URL('../clients/hold-lock.ts', import.meta.url))
/** Any number that nobody else uses. */
const LOCK = 4_711_001

/** Longer than the 20 s after which the primary's key has run out (`ttl`). */
const WITHOUT_ETCD_MS = 40_000

/** The last one is planned: an upgrade. */
type Loss = HostLoss | 'cut off from its like' | 'switched over'

export const postgres: Scenario = {
  name: 'postgres',
  about:
    'Three hosts with Postgres: the primary is killed under all services, and nothing is lost.',
  needsNamespaces: false,
  run: stage => survive(stage, ['killed']),
}

export const postgresLong: Scenario = {
  name: 'postgres-long',
  about:
    'Three hosts with Postgres, 200 ms from each other: they are replaced one after another, then the primary is paused, cut off and killed in turn; then a host of services is killed.',
  needsNamespaces: true,
  run: stage => survive(stage, LONG, DISTANCE_MS),
}

const LONG: readonly Loss[] = [
  'switched over',
  'cut off from its like',
  'paused',
  'cut off',
  'killed',
]

const LINE_LOST_MS = 10_000

/** ms each way between the hosts of Postgres. */
const DISTANCE_MS = 100

/** The members of Postgres, and the lines that replication takes where they are long. */
interface Members {
  members: readonly PatroniMember[]
  lines: ReadonlyMap<Host, Link>
}

/** @param distance ms each way between the members; then a host of services is lost, too */
async function survive(stage: Stage, losses: readonly Loss[], distance = 0): Promise<void> {
  const { box, say } = stage
  const programs = await patroniPrograms(stage)
  const hosts = await Promise.all(['db1', 'db2', 'db3'].map(name => box.addHost(name)))
  const etcd = await startEtcd(box, hosts)
  const lines = distance === 0 ? new Map<Host, Link>() : await stretch(box, hosts, distance)
  const advertised = (host: Host) => lines.get(host)?.address ?? host.address
  const archive = await openArchive(box, programs)
  const members = await startPatroni(box, programs, hosts, etcd, archive, advertised)
  const fleet = { members, lines }
  say('Postgres runs on three hosts.')
  const perscope = await startPerscope(box, members)
  try {
    const load = await startLoad(stage, perscope)
    say('The services run, and all clients are at work.')
    await archive.backUp(new URL(perscope.databaseUrl).host)
    say('A base backup is taken.')
    try {
      await holdStandby(stage, members)
      if (distance > 0) {
        await restartStandbys(stage, members)
        await pauseEtcd(stage, load, members)
      }
      for (const [index, loss] of losses.entries()) {
        await sleep(QUIET_MS)
        await lose(stage, load, fleet, loss, index + 1)
      }
      if (distance > 0) await loseServices(stage, load, perscope)
      await sleep(QUIET_MS)
      await load.finish()
      const reads = await readsOfStandbys(box, perscope)
      stage.figure('statements that standbys answered', reads)
      if (reads === 0) stage.findings.add('No standby answered a search.')
      await checkArchive(stage, archive, members)
    } finally {
      await load.stop()
    }
  } finally {
    await perscope.stop()
    for (const line of lines.values()) await line.close()
  }
}

/** The log must be whole: with the base backup it leads to any moment, also across the losses. */
async function checkArchive(
  { figure, findings }: Stage,
  archive: LogArchive,
  members: readonly PatroniMember[],
) {
  const primary = await primaryOf(members)
  if (!primary) throw new Error('There is no primary that archives.')
  const { segments, missing } = await archive.inspect(primary)
  if (missing.length > 0)
    findings.add(`The archive lacks segments of the log: ${missing.join(', ')}.`)
  figure('segments of the log archived', segments)
}

/** Long lines to the Postgres of each host: a standby has a commit that much later. */
async function stretch(
  box: Box,
  hosts: readonly Host[],
  distance: number,
): Promise<ReadonlyMap<Host, Link>> {
  const lines = new Map<Host, Link>()
  const port = box.network.port(5432)
  for (const host of hosts) {
    const line = await openLink(
      { address: await box.network.runnerAddress(), port },
      { address: host.address, port },
    )
    line.delay(distance)
    lines.set(host, line)
  }
  return lines
}

/**
 * Loses the line to a host. The line is a proxy, which goes on to acknowledge packets. So this
 * function ends the connections of the proxy when the system (`tcp_user_timeout`) would have ended
 * them.
 */
function loseLine(line: Link | undefined): () => void {
  line?.silence()
  const timer = setTimeout(() => line?.break(), LINE_LOST_MS)
  return () => {
    clearTimeout(timer)
    line?.mend()
  }
}

/** Loses the primary's host, waits until writes go on, and takes the host back as a standby. */
async function lose(
  stage: Stage,
  load: Load,
  fleet: Members,
  loss: Loss,
  number: number,
): Promise<void> {
  const { figure, findings, patience } = stage
  const { members } = fleet
  const primary = await primaryOf(members)
  if (!primary) throw new Error('There is no primary to lose.')
  const isOver = load.outages.begin(['postgres'])
  const began = Date.now()
  const undo = await losePrimary(primary, loss, fleet)
  const mendLine =
    loss === 'paused' || loss === 'switched over'
      ? () => {}
      : loseLine(fleet.lines.get(primary.host))
  // Until the strike has come through, writes may go on.
  const struck = Date.now()
  await until(
    () => load.marker.latest() > struck,
    PATIENCE_MS * patience,
    `No writes since ${primary.host.name} was ${loss}.`,
  )
  const away = load.marker.latest() - began
  isOver()
  figure(
    `${number}. ${primary.host.name} ${loss}: writes went on after`,
    `${(away / 1000).toFixed(1)} s`,
  )
  if (away > WRITES_MS * patience)
    findings.add(`Writes went on ${away} ms after ${primary.host.name} was ${loss}.`)
  await undo()
  mendLine()
  await untilSynchronous(members, PATIENCE_MS * patience)
  figure(`${number}. ${primary.host.name} ${loss}: a standby again after`, since(began))
  if ((await primary.role()) !== 'standby')
    findings.add(`${primary.host.name} did not come back as a standby.`)
}

/** Lets one standby lag behind, and shows readers nothing that it lacks. */
async function holdStandby({ say }: Stage, members: readonly PatroniMember[]): Promise<void> {
  const primary = await primaryOf(members)
  const standby = members.find(each => each !== primary)
  if (!standby) throw new Error('There is no standby.')
  await askSuperuser(standby, 'select pg_wal_replay_pause()')
  say(`${standby.host.name} replays nothing.`)
  await sleep(QUIET_MS)
  await askSuperuser(standby, 'select pg_wal_replay_resume()')
}

/** Replaces the standbys one after another, as an upgrade does. No request may fail meanwhile. */
async function restartStandbys(
  { figure, say }: Stage,
  members: readonly PatroniMember[],
): Promise<void> {
  const primary = await primaryOf(members)
  for (const member of members.filter(each => each !== primary)) {
    const began = Date.now()
    await member.host.restart('patroni')
    await untilSynchronous(members, PATIENCE_MS)
    figure(`${member.host.name} restarted: a standby again after`, since(began))
  }
  say('The standbys are replaced; the primary is switched over next.')
}

/**
 * Takes etcd's majority away for longer than the primary's key lasts. No request may fail
 * meanwhile.
 */
async function pauseEtcd(
  { findings, say }: Stage,
  load: Load,
  members: readonly PatroniMember[],
): Promise<void> {
  const primary = await primaryOf(members)
  const others = members.filter(each => each !== primary).map(({ host }) => host.member('etcd'))
  for (const etcd of others) etcd?.signal('SIGSTOP')
  say('etcd has no majority.')
  await sleep(WITHOUT_ETCD_MS)
  if (load.marker.latest() < Date.now() - WITHOUT_ETCD_MS / 2)
    findings.add('Writes ended when etcd had no majority.')
  for (const etcd of others) etcd?.signal('SIGCONT')
  await untilSynchronous(members, PATIENCE_MS)
  say('etcd has its majority back.')
}

/**
 * Loses a host of services for good, while it holds a lock of Postgres. The others get the lock,
 * and the work of its services, without it.
 */
async function loseServices(stage: Stage, load: Load, perscope: Perscope): Promise<void> {
  const { figure } = stage
  const [, host] = perscope.hosts
  if (!host) throw new Error('There is one host of services alone.')
  const pool = createPool(perscope.databaseUrl, 'locks', () => {}, { max: 1 })
  try {
    const isFree = async () => {
      const { rows } = await pool.query<{ free: boolean }>(
        'select pg_try_advisory_xact_lock($1) as free',
        [LOCK],
      )
      return rows[0]?.free === true
    }
    await host.start({
      name: 'holder',
      command: process.execPath,
      args: [HOLDER, perscope.databaseUrlOn(host), String(LOCK)],
    })
    await until(async () => !(await isFree()), PATIENCE_MS)
    const isOver = load.outages.begin(['api-1'])
    await host.crash()
    const began = Date.now()
    await until(
      isFree,
      PATIENCE_MS,
      () => `The lock of ${host.name}, which is lost, is never given up.`,
    )
    figure(`${host.name} killed: its locks were free after`, since(began))
    await load.untilIndexed(PATIENCE_MS)
    figure(`${host.name} killed: what was published then was indexed after`, since(began))
    await host.stop('holder')
    await host.boot()
    const api = perscope.apis[1] ?? ''
    await until(async () => (await fetch(`${api}/readyz`)).ok, PATIENCE_MS)
    isOver()
  } finally {
    await pool.end()
  }
}

/** @returns what takes it back */
async function losePrimary(
  primary: PatroniMember,
  loss: Loss,
  { members }: Members,
): Promise<() => Promise<void>> {
  const { host } = primary
  if (loss === 'switched over') {
    await switchOver(primary)
    return () => host.restart('patroni')
  }
  if (loss === 'cut off from its like') {
    // Clients still reach it, and it must not answer what no standby has.
    const others = members.map(each => each.host).filter(each => each !== host)
    for (const other of others) await cutBetween(host, other)
    return async () => {
      for (const other of others) await mendBetween(host, other)
    }
  }
  return strike(host, loss)
}
