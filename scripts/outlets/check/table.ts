import { counted } from '../../../shared/log/counted.ts'
import { printableLine } from '../../../shared/log/printable.ts'
import type { CheckedFeed } from './feed.ts'
import type { CheckedOutlet } from './outlet.ts'

/** A summary, then one line for each outlet, those with the most to do first. */
export function checkTable({ feeds, outlets }: { feeds: CheckedFeed[]; outlets: CheckedOutlet[] }): string {
  const listed = feeds.filter(feed => feed.listed)
  const read = listed.filter(({ ok }) => ok)
  const alive = new Set(feeds.filter(({ ok }) => ok).map(({ domain }) => domain))
  const rank = { gone: 0, unclear: 1, corrected: 2, works: 3 }
  const sorted = outlets.toSorted((a, b) => rank[a.result] - rank[b.result])
  return [
    `${read.length} of ${counted(listed.length, 'feed')} read, ${alive.size} of ${counted(outlets.length, 'outlet')} with at least one.`,
    ...sorted.map(({ domain, sentence }) => printableLine(`${domain}  ${sentence}`)),
  ].join('\n')
}
