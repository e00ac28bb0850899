import { addressKey } from '../articles/address.ts'
import type { Outlet } from './outlet.ts'

/** A feed or sitemap that several outlets name: each of its articles is stored once for each. */
export interface SharedFeed {
  url: string
  /** Ascending, two or more. */
  domains: string[]
}

/**
 * Finds addresses that several outlets name. Spellings that differ only in the scheme, `www.` or
 * tracking parameters count as one address.
 */
export function sharedFeeds(feeds: Iterable<{ domain: string; url: string }>): SharedFeed[] {
  const byKey = new Map<string, { url: string; domains: Set<string> }>()
  for (const { domain, url } of feeds) {
    const key = addressKey(url)
    const known = byKey.get(key)
    if (known) known.domains.add(domain)
    else byKey.set(key, { url, domains: new Set([domain]) })
  }
  return [...byKey.values()]
    .filter(({ domains }) => domains.size > 1)
    .map(({ url, domains }) => ({ url, domains: [...domains].sort() }))
}

/** All feeds and sitemaps of a catalogue. */
export function feedsOf(outlets: readonly Outlet[]): { domain: string; url: string }[] {
  return outlets.flatMap(({ domain, feeds, sitemaps }) => [...feeds, ...sitemaps].map(url => ({ domain, url })))
}

/** A warning for people. */
export function sharedFeedSentence({ url, domains }: SharedFeed): string {
  const names = `${domains.slice(0, -1).join(', ')} and ${domains.at(-1)}`
  return `${names} name the same feed ${url}: its articles are stored once for each of them.`
}
