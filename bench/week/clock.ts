import { type Habits, learn, nextPoll } from '#services/crawler/feeds/rhythm'
import { readConfig } from '#shared/config/config'
import { type FeedDocument, MINUTE, type Outlet, START, WEEK, WEEKS } from './outlets.ts'

/** A rule that decides when the crawler asks a document again. */
export interface Policy<H> {
  learn(before: H | null, poll: { now: number; found: number; room?: number | null }): H
  /** ms until the next poll. */
  next(habits: H, now: number, fresh: number): number
}

const { POLL_INTERVAL_MIN: min, POLL_INTERVAL_MAX: max } = readConfig({})

/** The crawler's own rule, with the default bounds. */
export const presentPolicy: Policy<Habits> = {
  learn,
  next: (habits, _now, fresh) => nextPoll(habits, fresh, { min, max }),
}

/** The effects of a policy in a week: lags, missed articles, requests and queues. */
export interface Lived {
  /** Articles in the order of their publication in each outlet. Times are in ms. */
  articles: {
    published: number
    /**
     * ms from the first moment at which an answer could show the article until a search can find
     * it.
     */
    lag: number
  }[]
  /** The number of articles that no poll saw. */
  missed: number
  /**
   * The number of missed articles that were in the feed for less than a minute. A crawler that asks
   * every minute cannot be sure to see them.
   */
  fleeting: number
  /** The number of polls in which no entry was known. */
  gaps: number
  /**
   * The number of requests for documents, of those that were answered 304, and of requests for
   * pages.
   */
  requests: { feeds: number; unchanged: number; pages: number }
  /** The shortest time between two requests of the same document. */
  shortestPause: number
  /**
   * How many pages wait for their host, and how many for the normaliser. They are counted every
   * `LOOK` ms.
   */
  due: Int32Array
  stored: Int32Array
}

const LOOK = 10_000
/** ms from when a poll is due until its request. The crawler looks for due feeds every 700 ms. */
const CLAIMED = 1_000
/** The default of `CRAWL_HOST_DELAY`, and the ms that a request takes. */
const HOST_DELAY = 1_000
const ANSWERED = 500
/** ms from when a page is stored until its article is in the index. */
const NORMALISED = 2_000

/**
 * Simulates the weeks with a policy, one outlet after the other, from each outlet's first poll on.
 */
export function live<H>(outlets: Outlet[], policy: Policy<H>): Lived[] {
  const looks = () => new Int32Array(WEEK / LOOK + 1)
  const week = (): Lived => ({
    articles: [],
    missed: 0,
    fleeting: 0,
    gaps: 0,
    shortestPause: Infinity,
    due: looks(),
    stored: looks(),
    requests: { feeds: 0, unchanged: 0, pages: 0 },
  })
  const lived = Array.from({ length: WEEKS }, week)
  for (const [place, outlet] of outlets.entries()) {
    const found = pollOutlet(outlet, policy, lived, START + (place % 60) * 1_000)
    noteArticles(outlet, found, lived)
  }
  return lived
}

const weekOf = (lived: Lived[], time: number) =>
  lived[Math.min(lived.length - 1, Math.floor((time - START) / WEEK))]!

/** A document, and what the policy has learned about it. */
interface Polled<H> {
  document: FeedDocument
  habits: H | null
  due: number
  /** The number of articles that have stood in the document, also those that left before a poll. */
  seen: number
}

/** Polls the documents of an outlet. Returns when each article was found; Infinity: never. */
function pollOutlet<H>(
  { published, documents }: Outlet,
  policy: Policy<H>,
  lived: Lived[],
  start: number,
): number[] {
  const found: number[] = published.map(() => Infinity)
  const all = documents.map(
    (document): Polled<H> => ({ document, habits: null, due: start, seen: 0 }),
  )
  const end = START + lived.length * WEEK
  for (;;) {
    const polled = all.reduce((a, b) => (a.due <= b.due ? a : b))
    const now = polled.due + CLAIMED
    if (now >= end) return found
    polled.due = now + poll(polled, found, now, policy, weekOf(lived, now))
  }
}

/** Makes one poll. Returns the ms until the next one. */
function poll<H>(
  polled: Polled<H>,
  found: number[],
  now: number,
  policy: Policy<H>,
  week: Lived,
): number {
  const { document, seen } = polled
  week.requests.feeds += 1
  while (polled.seen < found.length && document.shown[polled.seen]! <= now) polled.seen += 1
  const oldest = Math.max(seen, polled.seen - (document.room ?? Infinity))
  let discovered = 0
  for (let article = oldest; article < polled.seen; article += 1) {
    if (found[article] !== Infinity) continue
    found[article] = now
    discovered += 1
  }
  const isUnchanged = polled.seen === seen
  if (isUnchanged) week.requests.unchanged += 1
  if (seen > 0 && discovered > 1 && discovered === document.room) week.gaps += 1
  const { habits } = polled
  const room = habits !== null && isUnchanged ? {} : { room: document.room }
  polled.habits = policy.learn(habits, { now, found: discovered, ...room })
  const pause = policy.next(polled.habits, now, document.freshAt(now))
  week.shortestPause = Math.min(week.shortestPause, pause)
  return pause
}

/**
 * Fetches the pages of the found articles one after another. Notes for each article its lag, or
 * that it was missed.
 */
function noteArticles({ published, documents }: Outlet, found: number[], lived: Lived[]): void {
  let free = 0
  for (const [article, at] of found.entries()) {
    const week = weekOf(lived, published[article]!)
    const shown = Math.min(...documents.map(document => document.shown[article]!))
    if (at === Infinity) {
      // Polls after the end of the weeks might find the articles of the last hour.
      if (shown > START + lived.length * WEEK - 60 * MINUTE) continue
      week[documents.some(document => stays(document, article)) ? 'missed' : 'fleeting'] += 1
      continue
    }
    const fetched = Math.max(at, free) + ANSWERED
    free = fetched + HOST_DELAY
    week.requests.pages += 1
    look(week.due, at, fetched)
    look(week.stored, fetched, fetched + NORMALISED)
    week.articles.push({ published: published[article]!, lag: fetched + NORMALISED - shown })
  }
}

/** Whether an article stays in a document for more than a minute. */
function stays({ room, shown }: FeedDocument, article: number): boolean {
  return room === null || (shown[article + room] ?? Infinity) - shown[article]! > MINUTE
}

/** Adds a page to the counts of its week, at each look between two times. */
function look(depths: Int32Array, from: number, to: number): void {
  const since = (from - START) % WEEK
  for (let at = Math.ceil(since / LOOK); at * LOOK < since + to - from; at += 1)
    if (at < depths.length) depths[at]! += 1
}
