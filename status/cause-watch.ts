import type { Config } from '#shared/config/config'
import type { Cause, OutletHealth, QueueCounts } from '#shared/figures'
import type { Logger } from '#shared/log/logger'
import type { OutageLog } from '#shared/log/outage'
import { createPool, type Pool, postgresOutageLog, readColumn } from '#shared/postgres/pool'
import { type Missing, missingAmong } from '#shared/process/health'
import { type Repeated, repeatEvery } from '#shared/process/repeat'
import type { ServiceContext } from '#shared/process/service'
import { openQueues, type Queues } from '#shared/queues/queues'
import { readRedis, usesRedis } from '#shared/queues/redis'
import { causesOf, type Facts, hiddenBy } from './causes.ts'
import { observeFleet, observeMachines } from './fleet-metrics.ts'
import { countQuarantine, readAlerts, readFlow, readRunning } from './flow.ts'
import { budgetsUsed, outletHealth } from './health.ts'
import { readMachines } from './machines.ts'
import { observeBackup, observeDisk, readSurroundings } from './surroundings.ts'

/**
 * A lock that another holds is not the fault of a page or a feed that waits for it. So the wait
 * ends before the time limit of the statement, with an error that counts as transient. The writer
 * of articles ends a stopped holder of the clock within 45 s.
 */
const settings = { lock_timeout: '50s' }

export interface WorkerConnections {
  pool: Pool
  queues: Queues
  postgres: OutageLog
  /**
   * Starts to log causes.
   *
   * @param questions by the name of a server: a small request that shows whether it answers.
   *   Postgres is always included, and so is a Redis of the queues.
   */
  watch(questions?: Parameters<typeof missingAmong>[0]): {
    missing: () => Promise<Missing>
    causes: Repeated
  }
}

/**
 * Opens the pool and the queues that every service except the API uses. Shows the figures of the
 * fleet as metrics.
 */
export function openWorker(
  name: 'crawler' | 'normaliser' | 'embedder' | 'notifier',
  { config, log }: ServiceContext,
): WorkerConnections {
  const postgres = postgresOutageLog(log, () => pool)
  const pool: Pool = createPool(config.DATABASE_URL, name, postgres.met, {
    max: config.DATABASE_POOL,
    settings,
  })
  const queues = openQueues(config, log)
  // A crawler has no other use of the queues before its first page, and would warn only then.
  if (usesRedis(config)) queues.counts().catch(() => {})
  observeFleet(pool, queues)
  observeMachines(pool, config)
  observeDisk(config.DATA_DIR)
  observeBackup(config.BACKUP_FOLDERS, log)
  return {
    pool,
    queues,
    postgres,
    watch(questions = {}) {
      const asked = {
        postgres: () => pool.query('select 1'),
        ...questions,
        ...(usesRedis(config) ? { redis: () => queues.counts() } : {}),
      }
      const missing = (): Promise<Missing> => missingAmong(asked)
      // A queue that has not reached its Redis yet does not know why; a new connection does.
      const redis = usesRedis(config) ? { redis: () => readRedis(config) } : {}
      const patiently = () => missingAmong({ ...asked, ...redis }, PATIENCE)
      const causes = logCauses({ pool, queues, config, missing: patiently }, log)
      return { missing, causes }
    },
  }
}

/** ms that a server may take before the log names it; `/readyz` answers sooner. */
const PATIENCE = 5_000

interface Watched {
  pool: Pool
  queues: Pick<Queues, 'counts'>
  config: Config
  /** The servers that refuse this process or do not answer. */
  missing(): Promise<Missing>
}

/**
 * Returns a function that looks for causes. Between its calls it remembers processes and queues,
 * because one look cannot show restarts and stalls.
 */
export function watchCauses(watched: Watched): () => Promise<Cause[]> {
  const memory = { restarts: createRestarts(), stalls: createStalls() }
  return async () => causesOf(await readFacts(watched, memory))
}

/** Logs each cause when it begins and when it ends. The words are the same as on the pages. */
function logCauses(watched: Watched, log: Logger): Repeated {
  const look = watchCauses(watched)
  const newsOf = createCauseNews()
  return repeatEvery(
    LOOK,
    async () => {
      const { begun, over } = newsOf(await look())
      for (const { check, text } of begun) log.warn({ check }, text)
      for (const { check, text } of over) log.info({ check }, `over: ${text}`)
    },
    { first: LOOK, outage: { met: () => {}, over: () => {} } },
  )
}

const LOOK = 60_000

/** Returns which causes are new since the call before, and which are over. */
type CauseNews = (causes: readonly Cause[]) => { begun: Cause[]; over: Cause[] }

export function createCauseNews(): CauseNews {
  let known = new Map<string, Cause>()
  return causes => {
    const now = new Map(causes.map(cause => [keyOf(cause), cause]))
    const begun = [...now].flatMap(([key, cause]) => (known.has(key) ? [] : cause))
    const gone = [...known].flatMap(([key, cause]) => (now.has(key) ? [] : cause))
    const isHidden = hiddenBy(causes)
    known = new Map([...[...known].filter(([, cause]) => isHidden(cause)), ...now])
    return { begun, over: gone.filter(cause => !isHidden(cause)) }
  }
}

/** The key of a cause. It stays the same while only the figures of the cause change. */
const keyOf = ({ check, text }: Cause): string => `${check} ${text.replace(/[\d.]+/g, '#')}`

/** Facts of one moment. A part that cannot be read is null. */
export async function readFacts(
  { pool, queues, config, missing }: Watched,
  memory: { restarts: Restarts; stalls: Stalls },
  thoroughly = false,
): Promise<Facts> {
  const unread: string[] = []
  const part = <T>(name: string, reading: Promise<T>): Promise<T | null> =>
    reading.catch(() => {
      unread.push(name)
      return null
    })
  const [flow, running, machines, counts, outlets, quarantine, around, processes, alerts, away] =
    await Promise.all([
      part('flow', readFlow(pool)),
      part('running', readRunning(pool)),
      part('machines', readMachines(pool, config)),
      // Of a Redis that is away, `missing` tells.
      usesRedis(config) ? queues.counts().catch(() => null) : part('queues', queues.counts()),
      part('outlets', outletHealth(pool)),
      part('quarantine', countQuarantine(pool)),
      readSurroundings(config, pool, { thoroughly }),
      part('processes', readProcesses(pool)),
      part('alerts', readAlerts(pool)),
      missing(),
    ])
  if (thoroughly) {
    const { schema, index, clockAhead, databaseFull, names, certificates } = around
    const seen = {
      migrations: schema,
      index,
      clock: clockAhead,
      disk: databaseFull,
      names,
      certificates,
    }
    for (const [name, one] of Object.entries(seen)) if (one === null) unread.push(name)
  }
  // On a standby these cannot be asked, because that needs a write. Its cause says what to do.
  const isStandby = machines?.postgres?.role === 'standby'
  const late = unread.filter(name => !isStandby || (name !== 'disk' && name !== 'queues'))
  return {
    flow,
    running,
    machines,
    queues: counts,
    outlets,
    around,
    missing: Object.keys(away),
    reasons: away,
    unread: late.sort(),
    at: new Date().toISOString(),
    quarantine: quarantine && { counts: quarantine, newest: [] },
    spent: spentBudgets(outlets ?? [], config),
    unset: unsetOf(config),
    alerts,
    restarting: processes === null ? [] : memory.restarts(processes, Date.now()),
    stalled: counts === null ? [] : memory.stalls(counts, Date.now()),
  }
}

/** Empty settings that search by meaning needs. */
export const unsetOf = ({
  QDRANT_URL,
  EMBEDDINGS_URL,
  EMBEDDINGS_API,
  HF_TOKEN,
}: Config): string[] => [
  ...(QDRANT_URL === '' ? ['QDRANT_URL'] : []),
  ...(EMBEDDINGS_URL === '' && EMBEDDINGS_API !== 'hf' && HF_TOKEN === ''
    ? ['EMBEDDINGS_URL']
    : []),
]

/** For each daily budget that an outlet has used up, a text such as `pages of a.example`. */
export const spentBudgets = (outlets: readonly OutletHealth[], config: Config): string[] =>
  outlets.flatMap(outlet =>
    Object.entries(budgetsUsed(outlet, config)).flatMap(([name, used]) =>
      used >= 1 ? [`${name} of ${outlet.domain}`] : [],
    ),
  )

/** The name of each process. All connections of a process have the same name. */
const readProcesses = (pool: Pool): Promise<string[]> =>
  readColumn(
    pool,
    `select distinct application_name from pg_stat_activity
      where datname = current_database() and application_name ~ '^perscope (crawler|normaliser|embedder|notifier|api) #'`,
  )

/** Returns services that have lost many processes lately. */
type Restarts = (names: readonly string[], now: number) => string[]
/**
 * When this many processes of a service have begun and gone within LATELY (ms), the service
 * restarts again and again. A rolling update replaces each process only once. Nobody knows when
 * those of the first call began: the process that looks may be new by the same update.
 */
const MANY_GONE = 3
const LATELY = 600_000

export function createRestarts(): Restarts {
  const seen = new Map<string, number>()
  let isFirst = true
  return (names, now) => {
    for (const name of names) if (!seen.has(name)) seen.set(name, isFirst ? -Infinity : now)
    isFirst = false
    for (const [name, since] of seen)
      if (now - since > LATELY && !names.includes(name)) seen.delete(name)
    const gone = [...seen.keys()]
      .filter(name => !names.includes(name))
      .map(name => name.split(' ')[1]!)
    return [...Map.groupBy(gone, name => name)].flatMap(([name, all]) =>
      all.length >= MANY_GONE ? [name] : [],
    )
  }
}

/**
 * Returns the queues that stand still: their messages have waited for STALLED ms, and no process
 * has taken one.
 */
type Stalls = (counts: Record<string, QueueCounts>, now: number) => string[]
const STALLED = 120_000

export function createStalls(): Stalls {
  const since = new Map<string, number>()
  return (counts, now) =>
    Object.entries(counts).flatMap(([name, { waiting, active }]) => {
      if (waiting === 0 || active > 0) since.delete(name)
      else if (!since.has(name)) since.set(name, now)
      return now - (since.get(name) ?? now) >= STALLED ? [name] : []
    })
}
