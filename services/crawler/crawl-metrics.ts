import type { OutletHealth } from '#shared/figures'
import { type Counter, counter, gauge, shared } from '#shared/metrics'
import type { Pool } from '#shared/postgres/pool'
import { type Budget, budgetsUsed, outletHealth } from '#status/health'

/**
 * Exposes the outlets' health as metrics. A scrape reads them from the database. Every crawler
 * reports the same figures, so dashboards must take the maximum over the processes, not the sum.
 */
export function observeOutlets(pool: Pool, budget: Budget): void {
  const outlets = shared(() => outletHealth(pool))
  const outlet = (
    name: string,
    help: string,
    more: string[],
    figures: (outlet: OutletHealth) => Figure[],
  ) =>
    gauge(`outlet_${name}`, help, ['outlet', ...more], outlets, (set, all) => {
      for (const one of all) {
        for (const [value, labels] of figures(one))
          if (value !== null) set({ ...labels, outlet: one.domain }, value)
      }
    })
  const since = (time: Date | undefined | null) =>
    time ? Math.max(0, (Date.now() - time.getTime()) / 1_000) : null

  gauge('outlets', 'Outlets by health.', ['health'], outlets, (set, all) => {
    for (const health of ['healthy', 'silent', 'blocked', 'failing'] as const) {
      set({ health }, all.filter(one => one.health === health).length)
    }
  })
  const silence = 'Time since an outlet last named a new address.'
  outlet('silence_seconds', silence, [], ({ lastNew }) => [[since(lastNew)]])
  outlet(
    'failures',
    'Polls in a row that failed, of an outlet’s worst feed.',
    [],
    ({ failures }) => [[failures]],
  )
  const gap =
    'Time since a feed of an outlet last rolled on between two polls, if in the last seven days.'
  outlet('gap_age_seconds', gap, [], ({ gaps }) => [[since(gaps?.to)]])
  const late =
    'Pages that did not answer in time; an answer halves the number. From three on the outlet rests.'
  outlet('late_pages', late, [], one => [[one.late]])
  const blocked = 'Pages that an outlet refused to serve, if any in the last day.'
  outlet('blocked_pages', blocked, ['kind'], ({ blocks }) =>
    blocks.map(({ kind, pages }) => [pages, { kind }]),
  )
  const share =
    'Share of an outlet’s pages of two days that are refused or come from the feed alone, above a fifth.'
  outlet('kept_share', share, ['reason'], ({ kept }) =>
    kept ? [[kept.pages / kept.of, { reason: kept.reason }]] : [],
  )
  const used =
    'Share of a day’s budget (UTC) that an outlet has used. At 1, its other pages wait for the next day.'
  outlet('budget_used', used, ['budget'], one =>
    Object.entries(budgetsUsed(one, budget)).map(([name, share]) => [share, { budget: name }]),
  )
  const fall =
    'By how much the share of a source fell from the week before to the latest day, for fields read from worse sources.'
  outlet('origin_fall', fall, ['field', 'source'], ({ origins }) =>
    origins.falls.map(({ field, source, before, now }) => [before - now, { field, source }]),
  )
}

/** A figure of an outlet (null: there is none), and its labels besides the outlet's domain. */
type Figure = [value: number | null, labels?: Record<string, string>]

/**
 * `outcome`: the page's new state, then the reason if there is one: `stored`, `refused: robots`,
 * `waiting: cut` …
 */
export const pagesFetched: Counter<'outcome'> = counter(
  'pages_fetched_total',
  'Pages fetched, by outcome.',
  ['outcome'],
)
export const pagesDiscovered: Counter = counter(
  'pages_discovered_total',
  'Addresses that no feed of the outlet had named before.',
)
/** `answer`: `gone`, `page` or `nothing`, which says nothing of the article. */
export const looksAsked: Counter<'answer'> = counter(
  'second_looks_total',
  'Pages of visible articles that were asked for again, by what they answered.',
  ['answer'],
)
/** `outcome`: `fetched`, `refused`, `lost`; after `failed` and `waits` it is tried again. */
export const backAddresses: Counter<'outcome'> = counter(
  'back_addresses_total',
  'Addresses of the past of outlets that were tried, by outcome.',
  ['outcome'],
)
