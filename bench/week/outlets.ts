import { createRandom, type Random } from '#test/faults/random'

/*
 * Outlets such as published figures describe, and what they publish in some weeks. This file does
 * not know how the crawler asks feeds.
 */

/** An outlet, its articles, and the documents that list them. Times are in ms since 1970. */
export interface Outlet {
  /** When each article was published, the earliest first. */
  published: number[]
  documents: FeedDocument[]
}

/** A feed or a news sitemap. */
export interface FeedDocument {
  /** The number of entries that the document shows. Null: it shows all. */
  room: number | null
  /**
   * The first moment at which an answer can show each article. The articles are in the order of
   * `published`.
   */
  shown: number[]
  /** How long the server promises at this moment that its answer does not change, in ms. */
  freshAt(now: number): number
}

export const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
export const WEEK: number = 7 * DAY
/** A Monday, at midnight in Brussels. */
export const START: number = Date.UTC(2026, 10, 2) - HOUR

/**
 * Few feeds bring most articles. In a study, 17 % of 8,155 feeds brought 97 % of them (Hmedeh et
 * al., "Characterizing Web Syndication Behavior and Content", WISE 2011). The number of articles
 * falls by a modified power law.
 *
 * That study includes blogs. Here, 17 % of the outlets bring 91 %. The largest outlet has 1,300
 * articles a day; the Washington Post has 1,200 with those of agencies (The Atlantic, 2016). The
 * smallest has one in two days.
 */
const FEW_LARGE = (place: number) => (place + 30) ** -3
/** A catalogue of only newspapers. The smallest has twelve articles a day. */
const NEWSPAPERS = (place: number) => 1 / (place + 8)

/**
 * Articles by the hour. They begin at six, most come after nine, and the peak is between four and
 * five in the afternoon (azernis, publication times of eleven German publishers, 2023).
 */
const BY_HOUR = [
  4, 3, 2, 2, 4, 10, 26, 36, 42, 58, 64, 66, 62, 64, 70, 76, 84, 70, 58, 48, 40, 30, 18, 8,
]
/**
 * Articles by the day, from Monday on. Wednesdays have 56 % more than Saturdays, which have the
 * fewest (azernis, six publishers in 2021).
 */
const BY_DAY = [0.96, 0.99, 1, 0.99, 0.95, 0.64, 0.7]
/**
 * A holiday has this share of a day's articles. On the emptiest day of 2021 a publisher had 80
 * articles, and 203 on a Wednesday (azernis).
 */
const HOLIDAY = 0.4
/**
 * The share of outlets that put the articles of the printed paper online at once. The New York
 * Times was most active at midnight (Nieman Lab, 2009), Focus Online before six (azernis, 2023).
 */
const PRINTS = 0.3
/** The articles of a printed paper are at most this many. */
const MOST_PRINTED = 60
/**
 * An article makes others follow, as other events that people cause do (Alves et al., "Burstiness
 * Scale", 2016). This many articles follow another one on average, and after this time on average.
 */
const FOLLOWERS = 0.25
const FOLLOWS_AFTER = 45 * MINUTE
/**
 * A week has this many events. Half of the outlets write about each, this share of a day's
 * articles, on average two hours later. We assumed these numbers and the shares of caches below,
 * because no source counts them.
 */
const EVENTS = 2
const EVENT_SHARE = 0.15

/**
 * Number of entries in a feed. WordPress has 10, Serendipity and RSS 0.91 have 15. Feeds of busy
 * outlets have more.
 */
const ROOMS = [10, 15, 20, 30, 50, 100]

const OUTLETS = 400
/** The policy learns in three weeks, and the bench measures the fourth. */
export const WEEKS = 4

/**
 * The outlets of a catalogue. The same seed gives the same outlets.
 *
 * @param perDay about how many articles all outlets publish on a Wednesday
 */
export function makeOutlets(seed: number, perDay: number, newspapers: boolean): Outlet[] {
  const shares = Array.from({ length: OUTLETS }, (_, place) =>
    (newspapers ? NEWSPAPERS : FEW_LARGE)(place),
  )
  const total = shares.reduce((sum, share) => sum + share, 0)
  const chance = createRandom(seed, 'week events')
  const events = Array.from({ length: EVENTS * WEEKS }, () => START + chance.next() * WEEKS * WEEK)
  // The holiday is in the last week, which is the measured one.
  const holiday = START + (WEEKS - 1) * WEEK + Math.floor(chance.next() * 5) * DAY
  return shares.map((share, place) => {
    const random = createRandom(seed, `week outlet ${place}`)
    const daily = (perDay * share) / total
    const published = publish(random, daily, holiday, events)
    return { published, documents: makeDocuments(random, daily, published) }
  })
}

function publish(random: Random, daily: number, holiday: number, events: number[]): number[] {
  const times = [...plannedArticles(random, daily, holiday)]
  for (const event of events) {
    if (!random.chance(0.5)) continue
    const articles = poisson(random, daily * EVENT_SHARE)
    for (let left = articles; left > 0; left -= 1) times.push(event + exponential(random, 2 * HOUR))
  }
  // Articles that follow others have followers, too.
  for (let at = 0; at < times.length; at += 1) {
    const followers = poisson(random, FOLLOWERS)
    for (let left = followers; left > 0; left -= 1)
      times.push(times[at]! + exponential(random, FOLLOWS_AFTER))
  }
  const end = START + WEEKS * WEEK
  return times
    .map(Math.round)
    .filter(time => time < end)
    .sort((a, b) => a - b)
}

/** The articles of each hour and day, and those of the printed paper. */
function* plannedArticles(random: Random, daily: number, holiday: number): Generator<number> {
  const shift = Math.round(random.between(-2.5, 2.5))
  // The exponent is low for agencies, which also work at night, and high for a small office, which
  // works by day.
  const evenness = random.between(0.5, 2)
  const hours = BY_HOUR.map((_, hour) => BY_HOUR[(hour - shift + 24) % 24]! ** evenness)
  const sum = hours.reduce((all, hour) => all + hour, 0)
  const atWeekends = daily < 5 && random.chance(0.4) ? 0.1 : 1
  const onHoliday = random.chance(0.8) ? HOLIDAY : 1
  const prints =
    daily > 20 && random.chance(PRINTS)
      ? Math.min(random.between(0.15, 0.3), MOST_PRINTED / daily)
      : 0
  const paper = { at: random.between(0, 6.5) * HOUR, takes: random.between(2, 10) * MINUTE }
  for (let day = 0; day < WEEKS * 7; day += 1) {
    const midnight = START + day * DAY
    const factor =
      BY_DAY[day % 7]! * (day % 7 >= 5 ? atWeekends : 1) * (midnight === holiday ? onHoliday : 1)
    const articles = daily * factor * (1 - FOLLOWERS)
    for (const [hour, share] of hours.entries()) {
      yield* spread(random, (articles * (1 - prints) * share) / sum, midnight + hour * HOUR, HOUR)
    }
    if (day % 7 !== 6) yield* spread(random, articles * prints, midnight + paper.at, paper.takes)
  }
}

/** Draws moments in a span. `mean` is their mean number. */
function* spread(random: Random, mean: number, from: number, length: number): Generator<number> {
  for (let left = poisson(random, mean); left > 0; left -= 1) yield from + random.next() * length
}

/** Draws small means by Knuth's method, and large ones by the normal distribution. */
function poisson(random: Random, mean: number): number {
  if (mean > 50) {
    const normal =
      Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next())
    return Math.max(0, Math.round(mean + Math.sqrt(mean) * normal))
  }
  let count = -1
  for (let product = 1; product > Math.exp(-mean); count += 1) product *= random.next()
  return count
}

const exponential = (random: Random, mean: number) => -mean * Math.log(1 - random.next())

/**
 * Makes a feed for an outlet. Every fourth outlet also has a news sitemap, which lists the articles
 * of two days (Google's rules for news sitemaps). So no article leaves it between two polls.
 */
function makeDocuments(random: Random, daily: number, published: number[]): FeedDocument[] {
  const least = random.pick([0, 0, 1, 2, 3])
  const room = ROOMS.find((entries, place) => place >= least && entries >= daily / 4) ?? 100
  const feed = makeDocument(random, room, published)
  return random.chance(0.25) ? [feed, makeDocument(random, null, published)] : [feed]
}

/**
 * Makes a document.
 * - Some are written every few minutes, independently of the site.
 * - Some have a cache of 5, 15 or 60 minutes (as Pinecast offers), which other readers keep filled.
 * - Some state a `max-age` although no cache keeps them, as a hint for readers (ctrl.blog, "Best
 *   practices for caching of syndication feeds").
 */
function makeDocument(random: Random, room: number | null, published: number[]): FeedDocument {
  const every = random.chance(0.2) ? random.pick([5, 10, 15]) * MINUTE : 1
  const cached = random.chance(0.25) ? random.pick([1, 5, 5, 15, 15, 60]) * MINUTE : 1
  const hinted = cached === 1 && random.chance(0.2) ? random.pick([5, 10, 30, 60]) * MINUTE : 0
  const phase = random.next()
  const next = (time: number, step: number) =>
    Math.ceil((time - phase * step) / step) * step + phase * step
  const shown = published.map(time => next(next(time, every), cached))
  return { room, shown, freshAt: now => (cached === 1 ? hinted : next(now + 1, cached) - now) }
}
