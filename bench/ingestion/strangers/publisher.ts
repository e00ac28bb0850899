import { createHash } from 'node:crypto'
import { getDomain } from 'tldts'

/** How many parts the publishers are split into. */
export const FOLDS = 5
/** The fold whose misses may be looked at. Rules are made on it and judged on the others. */
export const OPEN_FOLD = 0

/** Addresses of the Internet Archive name the page that they keep a copy of. */
const ARCHIVED = /^https?:\/\/web\.archive\.org\/web\/(?:\d+(?:[a-z]{2}_)?\/)?/

/** The address of a page at its publisher, for a page that an archive kept. */
export function atPublisher(url: string): string {
  const rest = url.replace(ARCHIVED, '')
  return /^https?:\/\//.test(rest) ? rest : rest === url ? url : `http://${rest}`
}

/** Hosts of blogs that the list of public suffixes does not have. */
const BLOG_HOST = /(?:^|\.)([^.]+\.(?:wordpress|tumblr|medium|substack)\.com)$/

/**
 * The registrable domain of a page. Blogs at one host are publishers of their own
 * (https://publicsuffix.org, with its private section).
 */
export function publisherOf(url: string): string {
  const address = atPublisher(url)
  const host = URL.parse(address)?.hostname ?? address
  const blog = BLOG_HOST.exec(host)?.[1]
  return blog === undefined || blog.startsWith('www.') ? (getDomain(host, { allowPrivateDomains: true }) ?? host) : blog
}

/** The fold of a publisher, from 0. It never changes, and is the same in all sets. */
export function foldOf(publisher: string): number {
  return createHash('sha256').update(publisher).digest().readUInt32BE(0) % FOLDS
}
