import type { FeedWithToken } from '../../../shared/plans/search-feeds.ts'
import type { Subscription } from './opml.ts'

/** Not a path with a parameter: Express would decode it, and its errors would show it. */
export const FEED_PATH = /^\/feeds\/[^/]+\.rss$/

/** The token in a path of that form. */
export const tokenIn = (path: string): string => path.slice('/feeds/'.length, -'.rss'.length)

/** The token that somebody wrote, alone or in an address of ours; null when there is none. */
export const tokenInAddress = (text: string): string | null =>
  /(?:^|\/feeds\/)(psf_[\w-]{43})(?:\.rss)?$/.exec(text)?.[1] ?? null

/** The secret address of a feed. */
export const feedAddress = (publicUrl: string, token: string): string => `${publicUrl}/feeds/${token}.rss`

/** A feed as its key's owner takes it to a feed reader. */
export function subscriptionOf(publicUrl: string, { feed, token }: FeedWithToken): Subscription {
  const page = feed.search === '' ? `${publicUrl}/` : `${publicUrl}/?${feed.search}`
  return { title: feed.title, url: feedAddress(publicUrl, token), page }
}
