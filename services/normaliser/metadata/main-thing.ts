import { addressKey, readAddress } from '../../../shared/articles/address.ts'
import { fold } from './fold.ts'
import type { StatedThing } from './jsonld.ts'

/**
 * Of all that a page describes, what is its own article: by its address, its headline, its type,
 * its place. Lists of other articles describe those too: among several, one with another address
 * and another headline is none of ours.
 */
export function mainThing(
  things: StatedThing[],
  addresses: (string | null)[],
  titles: (string | null)[],
): StatedThing | null {
  const [page = null] = addresses
  const here = new Set(addresses.flatMap(address => keysOf(address, page)))
  const known = titles.flatMap(title => (title === null ? [] : [fold(title)]))
  const articles = things.filter(isArticle).length
  let best: { thing: StatedThing; score: number } | null = null
  for (const thing of things) {
    const own = thing.addresses.some(address => keysOf(address, page).some(key => here.has(key)))
    const elsewhere = thing.addresses.length > 0 && !own
    const headline = fold(thing.headline ?? '')
    const titled = headline.length > 3 && known.some(title => title.includes(headline) || headline.includes(title))
    if (elsewhere && !titled && articles > 1) continue
    const score =
      (own ? 3 : 0) +
      (titled ? 3 : 0) +
      (isArticle(thing) ? 4 : 0) +
      (thing.published.length > 0 ? 1 : 0) -
      (elsewhere ? 2 : 0)
    if (score > 0 && (best === null || score > best.score)) best = { thing, score }
  }
  return best?.thing ?? null
}

/** Whether a thing is said to be at other addresses than these, the page's own first. */
export function isElsewhere(thing: StatedThing, addresses: (string | null)[]): boolean {
  const [page = null] = addresses
  const here = new Set(addresses.flatMap(address => keysOf(address, page)))
  return (
    thing.addresses.length > 0 && !thing.addresses.some(address => keysOf(address, page).some(key => here.has(key)))
  )
}

export function isArticle(thing: StatedThing): boolean {
  return thing.types.some(type => /article|posting|report|review|recipe/.test(type))
}

/** An address's key, and its path alone: a page may live on another host than its data says. */
function keysOf(address: string | null, base: string | null): string[] {
  const read = address === null ? null : readAddress(address, base ?? undefined)
  if (read === null) return []
  const key = addressKey(read.href)
  const path = key.slice(key.indexOf('/'))
  return path.length > 10 ? [key, path] : [key]
}
