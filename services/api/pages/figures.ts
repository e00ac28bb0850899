import { outletHealth } from '../../../shared/outlets/health.ts'
import type { Pool } from '../../../shared/postgres/pool.ts'
import type { Queues } from '../../../shared/queues/queues.ts'
import { withTimeLimit } from '../../../shared/resilience/time-limit.ts'
import type { Figures, Flow, OutletHealth } from '../../../shared/status/figures.ts'
import { countQuarantine, listQuarantine, readFlow, readLag, readRunning } from '../../../shared/status/flow.ts'
import { type MachineSettings, readMachines } from '../../../shared/status/machines.ts'
import { withDelayed } from '../../../shared/status/status.ts'
import type { Readiness } from '../http/health.ts'

/**
 * ms that figures are good for, so that many viewers cost one look; what changes slowly is read
 * less often.
 */
const FRESH = { flow: 2_500, machines: 5_000, outlets: 10_000, quarantine: 10_000, lag: 60_000 }
const NEWEST = 50

/**
 * The figures as they are shown, each part read at most once in its time whoever asks, and by
 * itself.
 */
export function openFigures(parts: {
  pool: Pool
  queues: Pick<Queues, 'counts'>
  readiness: Readiness
  config: MachineSettings
  service: string
}): () => Promise<Figures> {
  const { pool, queues, readiness, config, service } = parts
  const read = {
    flow: remembered(FRESH.flow, async () => sentFlow(await readFlow(pool))),
    running: remembered(FRESH.flow, () => readRunning(pool)),
    machines: remembered(FRESH.machines, () => readMachines(pool, config)),
    queues: remembered(FRESH.flow, () => queues.counts()),
    outlets: remembered(FRESH.outlets, async () => (await outletHealth(pool)).sort(worstFirst).map(sentOutlet)),
    quarantine: remembered(FRESH.quarantine, async () => ({
      counts: await countQuarantine(pool),
      newest: await listQuarantine(pool, NEWEST),
    })),
    lag: remembered(FRESH.lag, () => readLag(pool)),
    missing: remembered(FRESH.flow, async () => [
      ...Object.keys(await readiness.required()),
      ...Object.keys(await readiness.semantic()),
    ]),
  }
  return async () => {
    const unread: string[] = []
    const part = <T>(name: keyof typeof read, reading: Promise<T>): Promise<T | null> =>
      reading.catch(() => {
        unread.push(name)
        return null
      })
    const [flow, running, machines, counts, outlets, quarantine, lag, missing] = await Promise.all([
      part('flow', read.flow()),
      part('running', read.running()),
      part('machines', read.machines()),
      part('queues', read.queues()),
      part('outlets', read.outlets()),
      part('quarantine', read.quarantine()),
      part('lag', read.lag()),
      part('missing', read.missing()),
    ])
    return {
      at: new Date().toISOString(),
      ...{ service, flow, running, machines, outlets, quarantine, lag },
      queues: counts && withDelayed(counts, flow?.embeddings.promised ?? 0),
      missing: missing ?? [],
      unread: unread.sort(),
    }
  }
}

const sentFlow = (flow: Flow): Flow<string> => ({ ...flow, newest: isoOf(flow.newest) })

const sentOutlet = (outlet: OutletHealth): OutletHealth<string> => ({
  ...outlet,
  lastSuccess: isoOf(outlet.lastSuccess),
  lastNew: isoOf(outlet.lastNew),
  restsUntil: isoOf(outlet.restsUntil),
  gaps: outlet.gaps && { ...outlet.gaps, from: outlet.gaps.from.toISOString(), to: outlet.gaps.to.toISOString() },
})

const isoOf = (time: Date | null) => time?.toISOString() ?? null

const RANK = { failing: 0, blocked: 1, silent: 2, healthy: 3 }

/**
 * Those in trouble first, the longest in it first of all; among the healthy, the longest silent.
 */
function worstFirst(a: OutletHealth, b: OutletHealth): number {
  const since = ({ lastNew, lastSuccess }: OutletHealth) => (lastNew ?? lastSuccess)?.getTime() ?? 0
  return (
    RANK[a.health] - RANK[b.health] || b.failures - a.failures || since(a) - since(b) || (a.domain < b.domain ? -1 : 1)
  )
}

/** ms that a part of the figures may take; the page shows the others without it. */
const PATIENCE = 4_000

/**
 * One reading for all who ask within `fresh` ms. What takes longer than four seconds fails for
 * those who wait, but is not asked again while it is under way.
 */
function remembered<T>(fresh: number, read: () => Promise<T>): () => Promise<T> {
  let last: { until: number; reading: Promise<T>; open: boolean } | undefined
  return () => {
    if (last === undefined || (!last.open && performance.now() > last.until)) {
      const begun = { until: performance.now() + fresh, reading: read(), open: true }
      const end = () => {
        begun.open = false
      }
      begun.reading.then(end, end)
      last = begun
    }
    return withTimeLimit(last.reading, PATIENCE, () => {
      throw new Error('It took too long.')
    })
  }
}
