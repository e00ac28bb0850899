import { type OutletHealth, outletHealth } from '../../../shared/outlets/health.ts'
import type { Pool } from '../../../shared/postgres/pool.ts'
import type { Queues } from '../../../shared/queues/queues.ts'
import { type Flow, readFlow } from '../../../shared/status/flow.ts'
import { readLag } from '../../../shared/status/lag.ts'
import { type MachineSettings, readMachines } from '../../../shared/status/machines/machines.ts'
import { countQuarantine, listQuarantine } from '../../../shared/status/quarantine.ts'
import { readRunning } from '../../../shared/status/running.ts'
import { withDelayed } from '../../../shared/status/status.ts'
import type { Readiness } from '../http/health.ts'
import type { Figures, FlowFigures, OutletFigures } from './figures.ts'
import { remembered } from './remembered.ts'

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
  board: boolean
}): () => Promise<Figures> {
  const { pool, queues, readiness, config, service, board } = parts
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
      ...{ service, board, flow, running, machines, outlets, quarantine, lag },
      queues: counts && withDelayed(counts, flow?.embeddings.promised ?? 0),
      missing: missing ?? [],
      unread: unread.sort(),
    }
  }
}

const sentFlow = (flow: Flow): FlowFigures => ({ ...flow, newest: isoOf(flow.newest) })

const sentOutlet = (outlet: OutletHealth): OutletFigures => ({
  ...outlet,
  lastSuccess: isoOf(outlet.lastSuccess),
  lastNew: isoOf(outlet.lastNew),
  restsUntil: isoOf(outlet.restsUntil),
  gaps: outlet.gaps && { ...outlet.gaps, from: outlet.gaps.from.toISOString(), to: outlet.gaps.to.toISOString() },
})

const isoOf = (time: Date | null) => time?.toISOString() ?? null

const RANK = { failing: 0, silent: 1, healthy: 2 }

/**
 * Those in trouble first, the longest in it first of all; among the healthy, the longest silent.
 */
function worstFirst(a: OutletHealth, b: OutletHealth): number {
  const since = ({ lastNew, lastSuccess }: OutletHealth) => (lastNew ?? lastSuccess)?.getTime() ?? 0
  return (
    RANK[a.health] - RANK[b.health] || b.failures - a.failures || since(a) - since(b) || (a.domain < b.domain ? -1 : 1)
  )
}
