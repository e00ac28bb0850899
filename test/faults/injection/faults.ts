import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { postgresIn } from '#infra/embedded/supervision/processes'
import { ask } from '#test/database'
import type { Findings, Outages, Part } from '#test/faults/findings'
import type { Machine, Worker } from '#test/faults/machine/machine'
import { type Member, signalProcess } from '#test/faults/machine/member'
import type { EmbeddedServer } from '#test/faults/machine/servers'
import type { Random } from '#test/faults/random'
import { type ServiceName, until } from '#test/fleet'

/** The processes and servers that a fault acts on. */
export interface Scene {
  machine: Machine
  outages: Outages
  findings: Findings
  random: Random
}

/** Does something bad, waits until the system could be well again, and says what it hit. */
export type Fault = (scene: Scene) => Promise<string>

/** A server that died is back, or its supervisor has been started anew, by then. */
const BACK_MS = 60_000

/** A process of the service that nothing has been done to yet; any of them when there is none. */
function pickWorker({ machine, random }: Scene, service: ServiceName): Worker {
  const all = machine.workers.filter(worker => worker.service === service)
  const well = all.filter(worker => worker.isWell())
  return random.pick(well.length > 0 ? well : all)
}

function partsOf(worker: Worker): Part[] {
  return worker.service === 'api' ? [`api-${numberOf(worker)}`] : []
}

const numberOf = (worker: Worker): number => Number(worker.name.split('-')[1])

/** Waits until something is there again; that it does not come back is a finding. */
async function backAgain(
  { findings }: Scene,
  name: string,
  isBack: () => Promise<boolean>,
): Promise<void> {
  await until(isBack, BACK_MS).catch(() =>
    findings.add(`${name} did not come back within a minute.`),
  )
}

/** Waits until the worker has a process other than `before`, and an API answers. */
async function workerAgain(scene: Scene, worker: Worker, before: number | null): Promise<void> {
  await backAgain(scene, worker.name, async () => {
    const pid = worker.pid()
    if (pid === null || pid === before) return false
    return worker.service !== 'api' || scene.machine.answers.api(numberOf(worker))
  })
}

/** Runs `work` as an outage of `parts`: begun before it, ended after it, whatever it does. */
async function during<T>(
  { outages }: Scene,
  parts: readonly Part[],
  work: () => Promise<T>,
): Promise<T> {
  const end = outages.begin(parts)
  try {
    return await work()
  } finally {
    end()
  }
}

/** Sends SIGSTOP, and SIGCONT after `ms`. */
async function pause({ signal }: Pick<Member, 'signal'>, ms: number): Promise<void> {
  signal('SIGSTOP')
  await sleep(ms)
  signal('SIGCONT')
}

/**
 * Longer than the lock of a message (30 s), so that another worker takes over what the paused one
 * still holds.
 */
const LONGER_THAN_A_LOCK_MS = 34_000
/** An API holds nothing; it only must not take others with it. */
const API_PAUSE_MS = 8_000

/**
 * The worker is gone between two instructions (SIGKILL), or is asked to end, as in every rolling
 * upgrade (SIGTERM).
 */
export const ended =
  (service: ServiceName, signal: 'SIGKILL' | 'SIGTERM'): Fault =>
  async scene => {
    const worker = pickWorker(scene, service)
    const pid = worker.pid()
    await during(scene, partsOf(worker), async () => {
      worker.signal(signal)
      await workerAgain(scene, worker, pid)
    })
    return `${worker.name} (${pid})`
  }

/**
 * The worker stands still, and goes on as if nothing had happened when others have long done its
 * work.
 */
export const paused =
  (service: ServiceName): Fault =>
  async scene => {
    const worker = pickWorker(scene, service)
    const ms = service === 'api' ? API_PAUSE_MS : LONGER_THAN_A_LOCK_MS
    await during(scene, partsOf(worker), () => pause(worker, ms))
    return `${worker.name} for ${ms / 1000} s`
  }

const SERVERS = ['postgres', 'qdrant', 'model'] as const
/** "No child of it outlives a SIGKILL by more than 10 s." */
const WATCHDOG_MS = 10_000

const serverAgain = (scene: Scene, server: EmbeddedServer) =>
  backAgain(scene, server, scene.machine.answers[server])

/** A server is killed; the embedded supervisor brings it back. */
export const serverKilled =
  (server: EmbeddedServer): Fault =>
  async scene =>
    during(scene, [server], async () => {
      const pid = await scene.machine.servers.pidOf(server)
      if (pid !== null) signalProcess(pid, 'SIGKILL')
      await serverAgain(scene, server)
      return `process ${pid}`
    })

/**
 * A server hangs: it takes connections and says nothing. Of Postgres every process stands still, as
 * when its disk stalls.
 */
export const serverPaused =
  (server: EmbeddedServer, ms: number): Fault =>
  async scene =>
    during(scene, [server], async () => {
      const { dataDir, pidOf } = scene.machine.servers
      const pids =
        server === 'postgres' ? postgresIn(join(dataDir, 'postgres')) : [(await pidOf(server)) ?? 0]
      const signal = (name: NodeJS.Signals) =>
        pids.every(pid => pid > 0 && signalProcess(pid, name))
      await pause({ signal }, ms)
      await serverAgain(scene, server)
      return `${pids.length} of its processes for ${ms / 1000} s`
    })

/**
 * Who watches over the servers is killed; they end with it, and it is started again by its own
 * supervisor.
 */
export const supervisorKilled: Fault = async scene =>
  during(scene, SERVERS, async () => {
    const { supervisor } = scene.machine.servers
    const pid = supervisor.pid()
    supervisor.signal('SIGKILL')
    await until(() => supervisor.pid() !== null && supervisor.pid() !== pid, 60_000).catch(() => {})
    // Until then the old ones may still answer, for as long as their watchdog takes to end them.
    await sleep(WATCHDOG_MS)
    for (const server of SERVERS) await serverAgain(scene, server)
    return `process ${pid}`
  })

/** An administrator, a proxy or a network ends every connection; Postgres itself goes on. */
export const connectionsEnded: Fault = async scene =>
  during(scene, ['postgres'], async () => {
    const ended = await sql<{ n: number }>(
      scene,
      `select count(pg_terminate_backend(pid))::int as n from pg_stat_activity
        where pid <> pg_backend_pid() and backend_type = 'client backend' and usename = current_user`,
    )
    return ended ? `${ended.n} connections` : 'Postgres was away'
  })

/** One backend crashes: Postgres then ends all others and replays its log. */
export const backendKilled: Fault = async scene =>
  during(scene, ['postgres'], async () => {
    const victim = await sql<{ pid: number; application_name: string }>(
      scene,
      `select pid, application_name from pg_stat_activity
        where pid <> pg_backend_pid() and backend_type = 'client backend' order by random() limit 1`,
    )
    if (!victim) return 'Postgres was away'
    signalProcess(victim.pid, 'SIGKILL')
    await sleep(200)
    await serverAgain(scene, 'postgres')
    return `backend ${victim.pid} of ${victim.application_name}`
  })

/**
 * Redis goes and comes back with what it had a second ago, with nothing at all, or loses everything
 * while it runs.
 */
export const redisFault =
  (how: 'killed' | 'lost' | 'flushed'): Fault =>
  async scene => {
    const { redis } = scene.machine
    if (!redis) throw new Error('There is no Redis in this run.')
    if (how === 'flushed') {
      return redis.flush().then(
        () => 'FLUSHALL',
        () => 'Redis was away',
      )
    }
    return during(scene, ['redis'], async () => {
      if (how === 'lost') redis.forget()
      redis.member.signal('SIGKILL')
      await sleep(200)
      await backAgain(scene, 'Redis', redis.answers)
      return how === 'lost' ? 'with its data' : ''
    })
  }

/** Power is lost: everything at once, in half of the cases with the supervisor of the servers. */
export const machineLost: Fault = async scene => {
  const { machine, random } = scene
  const before = machine.workers.map(worker => ({ worker, pid: worker.pid() }))
  const withSupervisor = random.chance(0.5)
  const parts = [...SERVERS, 'redis', ...machine.workers.flatMap(partsOf)] as const
  return during(scene, parts, async () => {
    const servers = await Promise.all(SERVERS.map(name => machine.servers.pidOf(name)))
    if (withSupervisor) machine.servers.supervisor.signal('SIGKILL')
    for (const pid of servers) if (pid !== null) signalProcess(pid, 'SIGKILL')
    for (const { worker } of before) worker.signal('SIGKILL')
    machine.redis?.member.signal('SIGKILL')
    await sleep(500)
    for (const server of SERVERS) await serverAgain(scene, server)
    await backAgain(scene, 'Redis', machine.answers.redis)
    for (const { worker, pid } of before) await workerAgain(scene, worker, pid)
    return withSupervisor
      ? 'with the supervisor of the servers'
      : 'all but the supervisor of the servers'
  })
}

/** The first row; undefined when Postgres is away. */
async function sql<Row extends pg.QueryResultRow>(
  { machine }: Scene,
  text: string,
): Promise<Row | undefined> {
  const [row] = await ask<Row>(machine.env.DATABASE_URL ?? '', text, 2_000).catch(() => [])
  return row
}
