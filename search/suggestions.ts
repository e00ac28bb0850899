import { foldName } from './analysis/tokens.ts'
import { type Collector, MINUTE, minuteOf, type NameUse } from './execute/collector.ts'
import type { NameIndex } from './memory/name-index.ts'
import { createPace } from './pace.ts'
import { countBits, eachBit, grown, hasBit } from './segment/arrays.ts'
import { docsOf, intersection } from './segment/doc-id-set.ts'
import { type NameField, TERMS } from './terms.ts'
import { COUNTRIES, type Country } from './vocabulary.ts'

/*
 * Names are ranked by the number of their articles before requests come. A request tries the most
 * used names first, until enough names contain its text. The ranking is renewed now and then, in at
 * most a hundredth of the process's time.
 */

/**
 * Articles in some countries that were published since a time. Articles without a date count by
 * their time of ingestion.
 */
export interface Covered {
  countries: readonly Country[]
  since: Date
}

type Rankings = Record<NameField, Ranking>

/**
 * A ranking of at least `FEW` names is kept for at least this many times as long as it took to
 * make. Then a request renews it.
 */
const FRESH = 100
/** A ranking is kept for at least this many ms. */
const LEAST_FRESH = 1_000
/**
 * If a ranking has fewer names than this, a request waits for the next ranking, which takes a
 * moment. Otherwise, for some time, requests to a new index would find no names.
 */
const FEW = 10_000
const NAMES_PER_READ = 2_000

export interface Suggestions {
  /**
   * Finds the numbers of outlets or authors whose names contain a text.
   *
   * @param text as the client wrote it
   * @param covered only names with such articles are found
   */
  find(field: NameField, text: string, covered: Covered, limit: number): Promise<number[]>
  /** Makes the first ranking. Later requests renew it. */
  ready(): Promise<void>
  /** Resolves when no ranking is running. */
  close(): Promise<void>
}

/**
 * Finds outlets and authors whose names contain a text, the most useful first.
 *
 * @param names the names in memory, in which searches look up parts of names
 * @param count counts the articles of all names
 * @param removal the number of the last removal; a ranking of before is not used
 */
export function createSuggestions(
  names: Record<NameField, NameIndex>,
  count: () => Promise<NameCounter>,
  removal: () => bigint | undefined = () => undefined,
): Suggestions {
  let rankings: Rankings | null = null
  let rankedAt: bigint | undefined
  let until = 0
  let ranking: Promise<Rankings> | null = null
  let closed = false

  async function rank(): Promise<Rankings> {
    const start = performance.now()
    const last = removal()
    const counter = await count()
    const isClosed = () => closed
    const outlet = await rankCounted(names.outlet, counter.outlet, isClosed)
    const author = await rankCounted(names.author, counter.author, isClosed)
    rankings = { outlet, author }
    rankedAt = last
    const took = performance.now() - start
    until =
      performance.now() + (areFew(rankings) ? LEAST_FRESH : Math.max(LEAST_FRESH, took * FRESH))
    return rankings
  }
  function refresh(): Promise<Rankings> {
    ranking ??= rank().finally(() => {
      ranking = null
    })
    return ranking
  }
  /**
   * Returns the ranking. The old ranking serves until the new one is made, and also if the new one
   * fails.
   */
  async function current(): Promise<Rankings> {
    if (rankings === null) return refresh()
    if (rankedAt !== removal() && !closed) {
      // A ranking that is under way may have begun before the removal.
      await ranking?.catch(() => {})
      return rankedAt === removal() ? rankings : refresh()
    }
    if (performance.now() < until || closed) return rankings
    const old = rankings
    const refreshed = refresh().catch(() => old)
    return areFew(old) ? refreshed : old
  }
  return {
    async find(field, text, { countries, since }, limit) {
      const { [field]: ranked } = await current()
      const wanted = COUNTRIES.reduce(
        (bits, one, index) => bits | (countries.includes(one) ? 1 << index : 0),
        0,
      )
      return ranked.find(foldName(text), wanted, minuteFrom(since.getTime()), limit)
    },
    async ready() {
      if (rankings === null) await refresh()
    },
    async close() {
      closed = true
      await ranking?.catch(() => {})
    },
  }
}

const areFew = ({ outlet, author }: Rankings) => outlet.size + author.size < FEW

/** Ranks the names that have articles. Reads names that are not in memory yet. */
async function rankCounted(
  names: NameIndex,
  uses: NameUses,
  isClosed: () => boolean,
): Promise<Ranking> {
  const slices = createPace()
  const pace = async () => {
    if (slices.isDue()) await slices.rest()
  }
  await names.readAll()
  const missing: number[] = []
  for (let no = 0; no < uses.end(); no++)
    if (!names.has(no) && uses.of(no).articles > 0) missing.push(no)
  for (let from = 0; from < missing.length && !isClosed(); from += NAMES_PER_READ) {
    await names.read(missing.slice(from, from + NAMES_PER_READ))
  }
  return rankNames(names, uses.of, pace)
}

/** The part of `NameIndex` that a ranking uses. */
type RankedNames = Pick<NameIndex, 'containing' | 'of' | 'highest'>

/** Numbers of outlets or authors, those with the most articles first. */
interface Ranking {
  size: number
  /**
   * Numbers of the names that contain a text. Names that begin with the text come first, then
   * names with a word that begins with it, then all others. Within each group, the names with the
   * most articles come first. Equal names appear once.
   *
   * @param text folded (`analysis/tokens.ts`), not empty
   * @param wanted bits of countries: a name needs articles in one of them
   * @param since minutes since 1970: a name needs such an article of this time or later
   */
  find(text: string, wanted: number, since: number, limit: number): Promise<number[]>
}

/**
 * The most names that are checked for one text. The names that are left out have fewer articles.
 */
const MOST_LOOKED_AT = 5_000
/** How many numbers are processed between two calls of the pace. */
const NUMBERS_PER_PACE = 2_048
/**
 * When more than one ranked name in this many contains a text, the search walks through all ranked
 * names. Otherwise it sorts the names that were found.
 */
const DENSE = 32

/**
 * Ranks the names that have articles. If several numbers have the same name, a search finds the
 * first one with articles that the reader may see.
 *
 * @param useOf gives the articles of a number
 * @param pace called often, so that other work can run
 */
export async function rankNames(
  names: RankedNames,
  useOf: (no: number) => NameUse,
  pace: () => Promise<void>,
): Promise<Ranking> {
  const { articles, countries, newest } = await joinEqual(names, useOf, pace)
  const order = await mostArticlesFirst(articles, pace)
  /** By number: its place in `order`, from 1 on; 0: it is not in `order`. */
  const places = new Uint32Array(articles.length)
  for (const [index, no] of order.entries()) places[no] = index + 1

  /** The numbers of a bitmap, in the order of the ranking. */
  function* inOrder(bits: Uint32Array): Generator<number> {
    if (countBits(bits, bits.length) * DENSE > order.length) {
      for (const no of order) if (hasBit(bits, no)) yield no
      return
    }
    const found: number[] = []
    eachBit(bits, no => {
      if (places[no]! > 0) found.push(places[no]!)
    })
    for (const place of Uint32Array.from(found).sort()) yield order[place - 1]!
  }
  return {
    size: order.length,
    async find(text: string, wanted: number, since: number, limit: number) {
      const isCovered = (no: number) =>
        COUNTRIES.some(
          (_, country) =>
            (countries[no]! & wanted & (1 << country)) !== 0 &&
            newest[no * COUNTRIES.length + country]! >= since,
        )
      const groups: number[][] = [[], [], []]
      const foundTexts = new Set<string>()
      let seen = 0
      for (const no of inOrder(await names.containing(text))) {
        if (++seen > MOST_LOOKED_AT || groups[0]!.length === limit) break
        if (!isCovered(no)) continue
        const name = names.of(no).find(one => one.includes(text))
        const group = groups[name === undefined ? 2 : groupOf(name, text)]!
        if (name === undefined || group.length === limit) continue
        // Two outlets may have one name, and differ in their domains.
        const texts = names.of(no).join('\n')
        if (!foundTexts.has(texts)) group.push(no)
        foundTexts.add(texts)
      }
      return groups.flat().slice(0, limit)
    },
  }
}

/**
 * Articles, countries and newest articles by number. Equal names in the same countries are added
 * up. The sum goes to the number with the most articles, because it has the usual spelling.
 */
async function joinEqual(
  names: RankedNames,
  useOf: (no: number) => NameUse,
  pace: () => Promise<void>,
) {
  const numbers = names.highest() + 1
  const articles = new Uint32Array(numbers)
  const countries = new Uint8Array(numbers)
  const newest = new Int32Array(numbers * COUNTRIES.length)
  /** By name and countries: the number that gets the sum. */
  const tellers = new Map<string, number>()
  for (let no = 1; no < numbers; no++) {
    if (no % NUMBERS_PER_PACE === 0) await pace()
    const use = useOf(no)
    if (use.articles === 0) continue
    countries[no] = use.countries
    newest.set(use.newest, no * COUNTRIES.length)
    articles[no] = use.articles
    const key = `${use.countries}\n${names.of(no).join('\n')}`
    const held = tellers.get(key) ?? no
    if (held === no) {
      tellers.set(key, no)
      continue
    }
    const sum = use.articles + articles[held]!
    const own = useOf(held).articles
    const usual = use.articles > own ? no : held
    articles[held] = own
    articles[usual] = sum
    tellers.set(key, usual)
  }
  return { articles, countries, newest }
}

/**
 * Numbers in descending order of their articles. Numbers without articles are left out. This is a
 * counting sort.
 */
async function mostArticlesFirst(
  articles: Uint32Array,
  pace: () => Promise<void>,
): Promise<Int32Array> {
  const most = 65_535
  const ends = new Uint32Array(most + 1)
  for (const count of articles) if (count > 0) ends[most - Math.min(count, most) + 1]! += 1
  await pace()
  for (let rank = 1; rank < ends.length; rank++) ends[rank]! += ends[rank - 1]!
  const order = new Int32Array(ends[most]!)
  for (const [no, count] of articles.entries()) {
    if (count > 0) order[ends[most - Math.min(count, most)]!++] = no
    if (no % NUMBERS_PER_PACE === 0) await pace()
  }
  return order
}

/** 0: the name begins with the text; 1: a word of the name does; 2: neither. */
function groupOf(name: string, text: string): 0 | 1 | 2 {
  const at = name.indexOf(text)
  if (at === 0) return 0
  return startsWord(name, at) ? 1 : 2
}

const LETTER = /[\p{L}\p{N}]$/u

/** Whether a word begins at a place: the character before it is no letter and no digit. */
const startsWord = (text: string, at: number) => !LETTER.test(text.slice(Math.max(0, at - 2), at))

/** Articles of outlets or authors, by number. */
interface NameUses {
  of(no: number): NameUse
  /** No number from this one on has articles. */
  end(): number
}

type NameCounter = Collector & Record<NameField, NameUses>

const COUNTRY_TERMS = COUNTRIES.map(country => TERMS.country(country))

/** Counts the matches of every outlet and author. */
export function createNameCounter(): NameCounter {
  const outlets = createUses()
  const authors = createUses()
  return {
    terms: COUNTRY_TERMS,
    outlet: outlets,
    author: authors,
    question: {
      kind: 'names',
      take: (field, no, use) => (field === 'outlet' ? outlets : authors).addUse(no, use),
    },
    isComplete: () => false,
    collect(matches, segment) {
      const isWhole = matches.count === matches.size
      COUNTRY_TERMS.forEach((term, index) => {
        let minute = 0
        const addAuthor = (no: number) => authors.add(no, index, minute)
        const list = segment.list(term)
        const docs = docsOf(isWhole ? list : intersection(matches, list))
        for (let at = 0; at < docs.length; at++) {
          const doc = docs[at]!
          const published = segment.published[doc]!
          minute = minuteOf(Number.isNaN(published) ? segment.ingested[doc]! : published)
          outlets.add(segment.values.publisherNo(doc), index, minute)
          segment.values.eachAuthor(doc, addAuthor)
        }
      })
    },
  }
}

/** Outlets and authors with higher numbers are not counted, so that memory stays bounded. */
const MOST_NUMBERS = 1 << 24

function createUses() {
  let articles = new Uint32Array(1 << 10)
  let countries = new Uint8Array(1 << 10)
  /** By number and country. Without articles in the country, the value has no meaning. */
  let newest = new Int32Array(COUNTRIES.length << 10)
  const hasRoom = (no: number): boolean => {
    if (no < articles.length) return true
    if (no >= MOST_NUMBERS) return false
    const size = 2 ** Math.ceil(Math.log2(no + 1))
    articles = grown(articles, new Uint32Array(size))
    countries = grown(countries, new Uint8Array(size))
    newest = grown(newest, new Int32Array(size * COUNTRIES.length))
    return true
  }
  const addNewest = (no: number, country: number, minute: number) => {
    const at = no * COUNTRIES.length + country
    const isFirst = (countries[no]! & (1 << country)) === 0
    if (isFirst || minute > newest[at]!) newest[at] = minute
    countries[no]! |= 1 << country
  }
  return {
    add(no: number, country: number, minute: number) {
      if (!hasRoom(no)) return
      articles[no]! += 1
      addNewest(no, country, minute)
    },
    addUse(no: number, use: NameUse) {
      if (!hasRoom(no)) return
      articles[no]! += use.articles
      use.newest.forEach((minute, country) => {
        if ((use.countries & (1 << country)) !== 0) addNewest(no, country, minute)
      })
    },
    of: (no: number): NameUse => ({
      articles: articles[no] ?? 0,
      countries: countries[no] ?? 0,
      newest: Array.from(newest.subarray(no * COUNTRIES.length, (no + 1) * COUNTRIES.length)),
    }),
    end: () => articles.length,
  }
}

/** The first whole minute that begins at `ms` or later. */
const minuteFrom = (ms: number): number => Math.ceil(ms / MINUTE)
