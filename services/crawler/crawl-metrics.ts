import { counter, gauge, histogram, shared } from '../../shared/log/registry.ts'
import { type Budget, budgetsUsed, outletHealth } from '../../shared/outlets/health.ts'
import type { Pool } from '../../shared/postgres/pool.ts'
import type { OutletHealth } from '../../shared/status/figures.ts'

/**
 * Offers the outlets' health as metrics. A scrape reads them from the database. Every crawler shows
 * the same figures: take the maximum over the processes, not the sum.
 */
export function observeOutlets(pool: Pool, budget: Budget): void {
  const outlets = shared(() => outletHealth(pool))

  gauge('outlets', 'Outlets by health.', ['health'], outlets, (set, all) => {
    for (const health of ['healthy', 'silent', 'failing'] as const) {
      set({ health }, all.filter(outlet => outlet.health === health).length)
    }
  })
  observeFeeds(outlets)
  gauge(
    'outlet_blocked_pages',
    'Pages that an outlet refused to serve, if any in the last day.',
    ['outlet', 'kind'],
    outlets,
    (set, all) => {
      for (const { domain, blocks } of all) for (const { kind, pages } of blocks) set({ outlet: domain, kind }, pages)
    },
  )
  gauge(
    'outlet_budget_used',
    'Share of a day’s budget (UTC) that an outlet has used. At 1, its other pages wait for the next day.',
    ['outlet', 'budget'],
    outlets,
    (set, all) => {
      for (const outlet of all) {
        for (const [name, share] of Object.entries(budgetsUsed(outlet, budget))) {
          set({ outlet: outlet.domain, budget: name }, share)
        }
      }
    },
  )
  gauge(
    'outlet_put_off_pages',
    'Pages that wait for another day’s budget of new hosts.',
    ['outlet'],
    outlets,
    (set, all) => {
      for (const { domain, putOff } of all) set({ outlet: domain }, putOff)
    },
  )
  gauge(
    'outlet_late_pages',
    'Pages that did not answer in time; an answer halves the number. From three on the outlet rests.',
    ['outlet'],
    outlets,
    (set, all) => {
      for (const { domain, late } of all) set({ outlet: domain }, late)
    },
  )
  observeOrigins(outlets)
}

/** Offers silence, failures and gaps of feeds as metrics, by outlet. */
function observeFeeds(outlets: () => Promise<OutletHealth[]>): void {
  gauge('outlet_silence_seconds', 'Time since an outlet last named a new address.', ['outlet'], outlets, (set, all) => {
    for (const { domain, lastNew } of all) {
      if (lastNew !== null) set({ outlet: domain }, Math.max(0, (Date.now() - lastNew.getTime()) / 1_000))
    }
  })
  gauge(
    'outlet_failures',
    'Polls in a row that failed, of an outlet’s worst feed.',
    ['outlet'],
    outlets,
    (set, all) => {
      for (const { domain, failures } of all) set({ outlet: domain }, failures)
    },
  )
  gauge(
    'outlet_gap_age_seconds',
    'Time since a feed of an outlet last rolled on between two polls, if in the last seven days.',
    ['outlet'],
    outlets,
    (set, all) => {
      for (const { domain, gaps } of all) {
        if (gaps !== null) set({ outlet: domain }, Math.max(0, (Date.now() - gaps.to.getTime()) / 1_000))
      }
    },
  )
}

/** Where the fields of articles come from, by outlet. */
function observeOrigins(outlets: () => Promise<OutletHealth[]>): void {
  gauge(
    'outlet_origin_share',
    'Share of an outlet’s articles of eight days whose field came from a source.',
    ['outlet', 'field', 'source'],
    outlets,
    (set, all) => {
      for (const { domain, origins } of all) {
        for (const { field, source, share } of origins.shares) set({ outlet: domain, field, source }, share)
      }
    },
  )
  gauge(
    'outlet_origin_fall',
    'By how much the share of a source fell from the week before to the latest day, for fields read from worse sources.',
    ['outlet', 'field', 'source'],
    outlets,
    (set, all) => {
      for (const { domain, origins } of all) {
        for (const { field, source, before, now } of origins.falls) set({ outlet: domain, field, source }, before - now)
      }
    },
  )
}

export const requestSeconds = histogram(
  'request_seconds',
  'Time of one request to an outlet, connection and body included.',
  [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20],
)
/** `outcome`: stored, refused:…, blocked:…, retry:…, failed:… */
export const pagesFetched = counter('pages_fetched_total', 'Pages fetched, by outcome.', ['outcome'])
/** `outcome`: new, nothing new, unchanged, or the kind of failure. */
export const feedPolls = counter('feed_polls_total', 'Polls of feeds and sitemaps, by outcome.', ['outcome'])
export const pagesDiscovered = counter(
  'pages_discovered_total',
  'Addresses that no feed of the outlet had named before.',
)
/** Feeds that named no known entry, so that articles may have come and gone unseen. */
export const feedGaps = counter('feed_gaps_total', 'Feeds that rolled on between two polls.')
export const blocksMet = counter('blocks_total', 'Pages that an outlet refused to serve, by kind.', ['kind'])
