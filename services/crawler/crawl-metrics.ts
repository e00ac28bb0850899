import type { OutletHealth } from '../../shared/figures.ts'
import { counter, gauge, shared } from '../../shared/metrics.ts'
import type { Pool } from '../../shared/postgres/pool.ts'
import { type Budget, budgetsUsed, outletHealth } from '../../status/health.ts'

/**
 * Offers the outlets' health as metrics. A scrape reads them from the database. Every crawler shows
 * the same figures: take the maximum over the processes, not the sum.
 */
export function observeOutlets(pool: Pool, budget: Budget): void {
  const outlets = shared(() => outletHealth(pool))
  const outlet = (name: string, help: string, figure: (outlet: OutletHealth) => number | null) =>
    gauge(`outlet_${name}`, help, ['outlet'], outlets, (set, all) => {
      for (const one of all) {
        const value = figure(one)
        if (value !== null) set({ outlet: one.domain }, value)
      }
    })
  const since = (time: Date | undefined | null) => (time ? Math.max(0, (Date.now() - time.getTime()) / 1_000) : null)

  outlet('silence_seconds', 'Time since an outlet last named a new address.', ({ lastNew }) => since(lastNew))
  outlet('failures', 'Polls in a row that failed, of an outlet’s worst feed.', ({ failures }) => failures)
  outlet(
    'gap_age_seconds',
    'Time since a feed of an outlet last rolled on between two polls, if in the last seven days.',
    ({ gaps }) => since(gaps?.to),
  )
  outlet(
    'late_pages',
    'Pages that did not answer in time; an answer halves the number. From three on the outlet rests.',
    ({ late }) => late,
  )
  observeKinds(outlets, budget)
}

/**
 * Figures of outlets by a second label: state of health, kind of block, budget, source of a field.
 */
function observeKinds(outlets: () => Promise<OutletHealth[]>, budget: Budget): void {
  gauge('outlets', 'Outlets by health.', ['health'], outlets, (set, all) => {
    for (const health of ['healthy', 'silent', 'blocked', 'failing'] as const) {
      set({ health }, all.filter(one => one.health === health).length)
    }
  })
  const blocked = 'Pages that an outlet refused to serve, if any in the last day.'
  gauge('outlet_blocked_pages', blocked, ['outlet', 'kind'], outlets, (set, all) => {
    for (const { domain, blocks } of all) for (const { kind, pages } of blocks) set({ outlet: domain, kind }, pages)
  })
  const kept = 'Share of an outlet’s pages of two days that are refused or come from the feed alone, above a fifth.'
  gauge('outlet_kept_share', kept, ['outlet', 'reason'], outlets, (set, all) => {
    for (const one of all) {
      if (one.kept) set({ outlet: one.domain, reason: one.kept.reason }, one.kept.pages / one.kept.of)
    }
  })
  const used = 'Share of a day’s budget (UTC) that an outlet has used. At 1, its other pages wait for the next day.'
  gauge('outlet_budget_used', used, ['outlet', 'budget'], outlets, (set, all) => {
    for (const one of all) {
      for (const [name, share] of Object.entries(budgetsUsed(one, budget))) {
        set({ outlet: one.domain, budget: name }, share)
      }
    }
  })
  const fall =
    'By how much the share of a source fell from the week before to the latest day, for fields read from worse sources.'
  gauge('outlet_origin_fall', fall, ['outlet', 'field', 'source'], outlets, (set, all) => {
    for (const { domain, origins } of all) {
      for (const { field, source, before, now } of origins.falls) set({ outlet: domain, field, source }, before - now)
    }
  })
}

/** `outcome`: stored, refused:…, blocked:…, retry:…, failed:… */
export const pagesFetched = counter('pages_fetched_total', 'Pages fetched, by outcome.', ['outcome'])
export const pagesDiscovered = counter(
  'pages_discovered_total',
  'Addresses that no feed of the outlet had named before.',
)
