import { fold } from '#services/normaliser/markup/plain'
import { addressKey, readAddress } from '#shared/articles/address'
import { NO_THING, type StatedThing } from './jsonld.ts'
import names from './names.json' with { type: 'json' }

/**
 * The statements by which a page calls itself an article. An interstitial makes few of them, and
 * never all.
 */
export interface ArticleSigns {
  /** The page's `og:type`, or the JSON-LD object about the page, is an article. */
  typed: boolean
  /** The page states when it was published. */
  dated: boolean
  /** The page's canonical address is its own address, and not the root of a site. */
  canonical: boolean
  /** The canonical address that the page states. */
  address: URL | null
}

/** @param thing the page's main thing in JSON-LD */
export function articleSigns(
  metas: Map<string, string[]>,
  thing: StatedThing,
  addresses: OwnAddresses,
): ArticleSigns {
  const isElsewhere = thing.addresses.length > 0 && !isAt(thing, addresses)
  const isOwn = isArticle(thing) && !isElsewhere
  const type = named(metas, ['og:type'])[0] ?? ''
  return {
    typed: isOwn || /^\W*(article|news\.?article|blog|video\.episode)\b/i.test(type),
    dated:
      (isOwn && thing.published.length > 0) ||
      publishedMetas(metas).some(date => /\d{4}/.test(date)),
    canonical: leadsHere(addresses),
    address: addresses.canonical,
  }
}

/** The addresses of a page: its own, and the canonical one that it states. */
export interface OwnAddresses {
  here: URL | null
  canonical: URL | null
  /** The keys of both, made by `keysOf`. */
  keys: ReadonlySet<string>
}

export function ownAddresses(url: string, canonical: string | null): OwnAddresses {
  const here = readAddress(url)
  const target = canonical === null ? null : readAddress(canonical, url)
  return { here, canonical: target, keys: new Set([here, target].flatMap(keysOf)) }
}

const leadsHere = ({ here, canonical }: OwnAddresses): boolean =>
  canonical !== null &&
  here !== null &&
  addressKey(canonical) === addressKey(here) &&
  (here.pathname !== '/' || here.search !== '')

/**
 * Names of meta tags in lower case, the most trusted first: Open Graph, Dublin Core, Parse.ly,
 * Sailthru, Cxense, Highwire Press (`citation_…`), and the names that content systems of newspapers
 * add.
 */

const PUBLISHED_NAMES: string[] = names.published

/**
 * Whether any other name says by itself that it holds a date of publication, as `firstPublishDate`
 * does. Microdata's `datePublished` is trusted less, and read elsewhere.
 */
const isOfPublication = (name: string) =>
  /publi(?:sh|ca)|pub[-_]?date/.test(name) &&
  /date|time|at$/.test(name) &&
  !/^datepublished$|modif|updat|expir|unpubl|print|last/.test(name)

/** The dates of publication in meta tags, the most trusted first. */
export const publishedMetas = (metas: Map<string, string[]>): string[] => {
  const others = [...metas.keys()].filter(
    name => isOfPublication(name) && !PUBLISHED_NAMES.includes(name),
  )
  return named(metas, [...PUBLISHED_NAMES, ...others])
}

/**
 * Names that do not say which date they hold. Content systems use them for the last change, or for
 * the day of the printed issue.
 */
export const VAGUE_DATE_NAMES: string[] = names.vagueDates

export const AUTHOR_NAMES: string[] = names.authors

export const TITLE_NAMES: string[] = names.titles

export const LANGUAGE_NAMES: string[] = names.languages

export const SITE_NAMES: string[] = names.sites

/** All values of these names, in the names' order. */
export const named = (metas: ReadonlyMap<string, string[]>, names: readonly string[]): string[] =>
  names.flatMap(name => metas.get(name) ?? [])

/** The properties of a page that show which of the described things is its own article. */
interface Page {
  addresses: OwnAddresses
  /** The page's titles, folded. */
  titles: string[]
}

/**
 * Finds the page's own article among the things that the page describes: by address, headline, type
 * and position. Pages also describe other articles in lists. So among several articles, an article
 * with another address and another headline is never chosen. `NO_THING`: none is its own.
 */
export function mainThing(
  things: StatedThing[],
  addresses: OwnAddresses,
  titles: (string | null)[],
): StatedThing {
  const page = pageOf(addresses, titles)
  const isOneOfSeveral = things.filter(isArticle).length > 1
  let best = { thing: NO_THING, score: 0 }
  for (const thing of things) {
    const score = scoreOf(thing, page, isOneOfSeveral)
    if (score > best.score) best = { thing, score }
  }
  return best.thing
}

/** Things that have an address of the page, or its headline. */
export function ownThings(
  things: StatedThing[],
  addresses: OwnAddresses,
  titles: (string | null)[],
): StatedThing[] {
  const page = pageOf(addresses, titles)
  return things.filter(thing => isAt(thing, addresses) || isTitled(thing, page))
}

const pageOf = (addresses: OwnAddresses, titles: (string | null)[]): Page => ({
  addresses,
  titles: titles.flatMap(title => (title === null ? [] : [fold(title)])),
})

/** Evidence that a thing is the page's own article; 0 or less for a thing that is not. */
function scoreOf(thing: StatedThing, page: Page, isOneOfSeveral: boolean): number {
  const own = isAt(thing, page.addresses)
  const elsewhere = thing.addresses.length > 0 && !own
  const titled = isTitled(thing, page)
  if (elsewhere && !titled && (isOneOfSeveral || isStrange(thing, page))) return 0
  const evidence = [
    own ? 3 : 0,
    titled ? 3 : 0,
    isArticle(thing) ? 4 : 0,
    thing.published.length > 0 ? 1 : 0,
  ]
  return evidence.reduce((sum, each) => sum + each, elsewhere ? -2 : 0)
}

/** Whether a title of the page contains the thing's headline, or the reverse. */
function isTitled(thing: StatedThing, { titles }: Page): boolean {
  const headline = fold(thing.headline ?? '')
  return (
    headline.length > 3 &&
    titles.some(title => title.includes(headline) || headline.includes(title))
  )
}

/** Whether a headline shares no longer word with the page's titles. */
function isStrange({ headline }: StatedThing, { titles }: Page): boolean {
  const words = fold(headline ?? '')
    .split(' ')
    .filter(word => word.length > 3)
  return (
    words.length > 0 &&
    titles.length > 0 &&
    !words.some(word => titles.some(title => title.includes(word)))
  )
}

/** Whether the thing has one of the page's addresses. */
const isAt = ({ addresses }: StatedThing, { here, keys }: OwnAddresses): boolean =>
  addresses.some(own => keysOf(readAddress(own, here?.href)).some(key => keys.has(key)))

const isArticle = (thing: StatedThing): boolean =>
  thing.types.some(type => /article|posting|report|review|recipe/.test(type))

/**
 * The key of an address, and its path alone, because a page's data may name another host than the
 * page's own.
 */
function keysOf(address: URL | null): string[] {
  if (address === null) return []
  const key = addressKey(address)
  const path = key.slice(key.indexOf('/'))
  return path.length > 10 ? [key, path] : [key]
}
