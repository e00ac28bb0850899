import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { postgresIn } from '../../../infra/embedded/supervision/processes.ts'
import type { EmbeddedServer } from '../machine/servers.ts'
import type { Fault } from './fault.ts'
import { during, isBack, isTrue, killServer, partsOf, type Scene, signalProcess } from './scene.ts'

const SERVERS = ['postgres', 'qdrant', 'model'] as const
/** "No child of it outlives a SIGKILL by more than 10 s." */
const WATCHDOG_MS = 10_000

/** A server is killed; the embedded supervisor brings it back. */
export const serverKilled =
  (server: EmbeddedServer): Fault =>
  async scene =>
    during(scene, [server], async () => {
      const pid = await killServer(scene, server)
      await backAgain(scene, server)
      return `process ${pid}`
    })

/** A server hangs: it takes connections and says nothing. */
export const serverPaused =
  (server: 'qdrant' | 'model', ms: number): Fault =>
  async scene =>
    during(scene, [server], async () => {
      const pid = await scene.machine.servers.pidOf(server)
      if (pid === null) return 'was away'
      signalProcess(pid, 'SIGSTOP')
      await sleep(ms)
      signalProcess(pid, 'SIGCONT')
      await backAgain(scene, server)
      return `process ${pid} for ${ms / 1000} s`
    })

/**
 * The disk under Postgres stalls: every process of it stands still, connections stay open and say
 * nothing.
 */
export const postgresPaused =
  (ms: number): Fault =>
  async scene =>
    during(scene, ['postgres'], async () => {
      const pids = postgresIn(join(scene.machine.servers.dataDir, 'postgres'))
      for (const pid of pids) signalProcess(pid, 'SIGSTOP')
      await sleep(ms)
      for (const pid of pids) signalProcess(pid, 'SIGCONT')
      await backAgain(scene, 'postgres')
      return `${pids.length} processes for ${ms / 1000} s`
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
    await isTrue(async () => supervisor.pid() !== null && supervisor.pid() !== pid)
    // Until then the old ones may still answer, for as long as their watchdog takes to end them.
    await sleep(WATCHDOG_MS)
    for (const server of SERVERS) await backAgain(scene, server)
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
    await backAgain(scene, 'postgres')
    return `backend ${victim.pid} of ${victim.application_name}`
  })

/**
 * Redis goes and comes back with what it had a second ago, with nothing at all, or loses everything
 * while it runs.
 */
export const redisFault =
  (how: 'killed' | 'lost' | 'flushed'): Fault =>
  async scene => {
    const { machine, findings } = scene
    const { redis } = machine
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
      if (!(await isTrue(redis.answers))) findings.add('Redis did not come back within a minute.')
      return how === 'lost' ? 'with its data' : ''
    })
  }

/** Power is lost: everything at once, in half of the cases with the supervisor of the servers. */
export const machineLost: Fault = async scene => {
  const { machine, random, findings } = scene
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
    for (const server of SERVERS) await backAgain(scene, server)
    if (!(await isTrue(machine.answers.redis))) findings.add('Redis did not come back within a minute.')
    for (const { worker, pid } of before) {
      if (!(await isBack(scene, worker, pid))) findings.add(`${worker.name} did not come back within a minute.`)
    }
    return withSupervisor ? 'with the supervisor of the servers' : 'all but the supervisor of the servers'
  })
}

async function backAgain({ machine, findings }: Scene, server: EmbeddedServer): Promise<void> {
  if (!(await isTrue(machine.answers[server]))) findings.add(`${server} did not come back within a minute.`)
}

/** The first row; undefined when Postgres is away. */
async function sql<Row extends pg.QueryResultRow>({ machine }: Scene, text: string): Promise<Row | undefined> {
  const client = new pg.Client({ connectionString: machine.env.DATABASE_URL, connectionTimeoutMillis: 2_000 })
  client.on('error', () => {})
  try {
    await client.connect()
    return (await client.query<Row>(text)).rows[0]
  } catch {
    return undefined
  } finally {
    await client.end().catch(() => {})
  }
}
