import { counter, histogram } from '../../shared/log/registry.ts'

export const requestSeconds = histogram(
  'request_seconds',
  'Time of one request to an outlet, connection and body included.',
  [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20],
)
/** `outcome`: stored, refused:…, blocked:…, retry:…, failed:… */
export const pagesFetched = counter('pages_fetched_total', 'Pages fetched, by outcome.', ['outcome'])
/**
 * `outcome`: unchanged, other bytes, gone, unreadable:…, forbidden, retry:…, put back, other page,
 * known
 */
export const pageLooks = counter('page_looks_total', 'Looks at pages that are done, by outcome.', ['outcome'])
/** `outcome`: new, nothing new, unchanged, or the kind of failure. */
export const feedPolls = counter('feed_polls_total', 'Polls of feeds and sitemaps, by outcome.', ['outcome'])
export const pagesDiscovered = counter(
  'pages_discovered_total',
  'Addresses that no feed of the outlet had named before.',
)
/** Feeds that named no known entry, so that articles may have come and gone unseen. */
export const feedGaps = counter('feed_gaps_total', 'Feeds that rolled on between two polls.')
export const blocksMet = counter('blocks_total', 'Pages that an outlet refused to serve, by kind.', ['kind'])
