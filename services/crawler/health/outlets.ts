import { Gauge } from 'prom-client'
import { registry } from '../../../shared/metrics/registry.ts'
import { type OutletHealth, outletHealth } from '../../../shared/outlets/health.ts'
import type { Pool } from '../../../shared/postgres/pool.ts'

/** Scrapes within this time (ms) share one look at the database. */
const FRESH = 15_000

/**
 * Shows the outlets' health as metrics, read from the database when somebody scrapes. Every crawler shows the same
 * figures: take the greatest over the processes, not the sum.
 */
export function observeOutlets(pool: Pool): void {
  let read: { at: number; outlets: Promise<OutletHealth[]> } | undefined
  const outlets = () => {
    if (read === undefined || performance.now() - read.at > FRESH) {
      read = { at: performance.now(), outlets: outletHealth(pool).catch(() => []) }
    }
    return read.outlets
  }
  const gauge = <L extends string>(
    name: string,
    help: string,
    labelNames: L[],
    set: (gauge: Gauge<L>, all: OutletHealth[]) => void,
  ) =>
    new Gauge({
      name: `perscope_${name}`,
      help,
      labelNames,
      registers: [registry],
      async collect() {
        const all = await outlets()
        this.reset()
        set(this, all)
      },
    })

  gauge('outlets', 'Outlets by health.', ['health'], (gauge, all) => {
    for (const health of ['healthy', 'silent', 'failing'] as const) {
      gauge.set({ health }, all.filter(outlet => outlet.health === health).length)
    }
  })
  gauge('outlet_silence_seconds', 'Time since an outlet last named a new address.', ['outlet'], (gauge, all) => {
    for (const { domain, lastNew } of all) {
      if (lastNew !== null) gauge.set({ outlet: domain }, Math.max(0, (Date.now() - lastNew.getTime()) / 1_000))
    }
  })
  gauge('outlet_failures', 'Polls in a row that failed, of an outlet’s worst feed.', ['outlet'], (gauge, all) => {
    for (const { domain, failures } of all) gauge.set({ outlet: domain }, failures)
  })
  gauge(
    'outlet_blocked_pages',
    'Pages that an outlet kept from us, if any in the last day.',
    ['outlet', 'kind'],
    (gauge, all) => {
      for (const { domain, blocks } of all)
        for (const { kind, pages } of blocks) gauge.set({ outlet: domain, kind }, pages)
    },
  )
}
