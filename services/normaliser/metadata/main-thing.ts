import { addressKey, readAddress } from '../../../shared/articles/address.ts'
import { fold } from './fold.ts'
import type { StatedThing } from './jsonld.ts'

/** The page, as far as it tells which of the things described on it is its own article. */
interface Page {
  /** Keys of its addresses, as `keysOf` gives them. */
  keys: Set<string>
  address: string | null
  /** Its titles, folded. */
  titles: string[]
}

/**
 * Finds the page's own article among the things that it describes: by address, headline, type and
 * position. Pages describe other articles in lists too. Among several articles, one with another
 * address and another headline is therefore never chosen.
 */
export function mainThing(
  things: StatedThing[],
  addresses: (string | null)[],
  titles: (string | null)[],
): StatedThing | null {
  const [address = null] = addresses
  const page: Page = {
    keys: new Set(addresses.flatMap(each => keysOf(each, address))),
    address,
    titles: titles.flatMap(title => (title === null ? [] : [fold(title)])),
  }
  const isOneOfSeveral = things.filter(isArticle).length > 1
  let best: { thing: StatedThing; score: number } | null = null
  for (const thing of things) {
    const score = scoreOf(thing, page, isOneOfSeveral)
    if (score > 0 && (best === null || score > best.score)) best = { thing, score }
  }
  return best?.thing ?? null
}

/** Evidence that a thing is the page's own article; 0 or less for a thing that is not. */
function scoreOf(thing: StatedThing, page: Page, isOneOfSeveral: boolean): number {
  const own = thing.addresses.some(address => keysOf(address, page.address).some(key => page.keys.has(key)))
  const elsewhere = thing.addresses.length > 0 && !own
  const titled = isTitled(thing, page)
  if (elsewhere && !titled && isOneOfSeveral) return 0
  const evidence = [own ? 3 : 0, titled ? 3 : 0, isArticle(thing) ? 4 : 0, thing.published.length > 0 ? 1 : 0]
  return evidence.reduce((sum, each) => sum + each, elsewhere ? -2 : 0)
}

/** Whether a title of the page contains the thing's headline, or the headline the title. */
function isTitled(thing: StatedThing, { titles }: Page): boolean {
  const headline = fold(thing.headline ?? '')
  return headline.length > 3 && titles.some(title => title.includes(headline) || headline.includes(title))
}

/**
 * Whether the data give a thing other addresses than these. The page's own address is the first.
 */
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

/**
 * An address's key, and its path alone: a page's data may name another host than the page's own.
 */
function keysOf(address: string | null, base: string | null): string[] {
  const read = address === null ? null : readAddress(address, base ?? undefined)
  if (read === null) return []
  const key = addressKey(read.href)
  const path = key.slice(key.indexOf('/'))
  return path.length > 10 ? [key, path] : [key]
}
