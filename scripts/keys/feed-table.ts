import { printableLine } from '../../shared/log/printable.ts'
import type { SearchFeed } from '../../shared/plans/search-feeds.ts'

/** Feeds for people: two lines each. */
export function feedTable(feeds: SearchFeed[]): string {
  if (feeds.length === 0) return 'No feeds; `npm run keys -- feed add KEY --search "…"` makes one.'
  return feeds
    .flatMap(feed => [
      `${feed.id}  ${printableLine(feed.title)}`,
      `  ${printableLine(feed.search) || 'everything'}  made ${minute(feed.createdAt)}, ${use(feed)}`,
    ])
    .join('\n')
}

const use = ({ requests, lastUsedAt }: SearchFeed): string =>
  lastUsedAt === null ? 'never used' : `${requests.toLocaleString('en')} × used, last ${minute(lastUsedAt)}`

const minute = (time: Date): string => `${time.toISOString().slice(0, 16).replace('T', ' ')} UTC`
