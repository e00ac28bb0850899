/*
 * The time of the next poll of a feed. Everything here is pure: the crawler stores the habits of a
 * feed in its row, and the simulated weeks of `bench/week` keep them in memory.
 *
 * Articles come as a Poisson process whose rate changes with the hour and differs at weekends, as
 * Sia, Cho and Cho found in 10,000 feeds ("Efficient Monitoring Algorithm for Fast News Alerts",
 * 2007). A feed is polled when the total waiting time of the articles that are expected to wait
 * there reaches PRICE. One price for all feeds spends requests where they save most waiting: the
 * Lagrange multiplier of a common budget (Cho and Garcia-Molina, "Effective page refresh policies",
 * 2003; Azar et al., "Tractable near-optimal policies for crawling", 2018). At a constant rate the
 * pause is √(2 · PRICE / rate), the square root law of both papers, up to PATIENCE.
 */

/** Statistics of a feed, learnt from its polls. Times in ms, rates in articles an hour. */
export interface Habits {
  /** The first poll, and the last one. */
  since: number
  at: number
  /** By the hour (UTC): 24 of a working day, then 24 of a day of the weekend. */
  rates: number[]
  /**
   * By the hour of any day: the highest rate at which articles came when they filled much of the
   * feed at once, as a newspaper's edition does. It fades.
   */
  rushes: number[]
  /**
   * `found`: new articles in the last polls. `expected`: the number that the rates predicted for
   * that time. Both fade.
   */
  found: number
  expected: number
  /** Entries that the feed shows, when new entries push old ones out; null: old entries stay. */
  room: number | null
}

/** A poll that succeeded. */
interface PollResult {
  now: number
  /** Number of new articles. */
  found: number
  /** As in `Habits`; absent: the document has not changed. */
  room?: number | null
  /** The articles an hour, by the dates in a first document; null: it has no dates. */
  dated?: number | null
}

export interface IntervalRange {
  /** POLL_INTERVAL_MIN and POLL_INTERVAL_MAX. */
  min: number
  max: number
}

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const WEEK = 7 * DAY

/** The total waiting time of articles, in ms, that justifies one request. */
const PRICE = 6.5 * MINUTE
/**
 * When an article has waited for PATIENCE (ms), its waiting weighs 1 + LATE times as much, because
 * we promise 95 of 100 articles within a quarter of an hour, not a mean.
 */
const PATIENCE = 10 * MINUTE
const LATE = 12
/**
 * The assumed articles an hour of a feed without dates at its first poll. A guess that is too high
 * costs little, because it fades fast.
 */
const UNKNOWN_RATE = 4
/** The highest and the lowest rate that a feed can have, in articles an hour. */
const MOST = 3_600
const LEAST = 0.001
/**
 * Days that a rate remembers: the workdays of about two and a half weeks, and the days of two
 * weekends. A younger feed remembers all of its days, so that its first days count in full.
 */
const MEMORY = { workdays: 12, weekend: 4 }
/** Days for which the rate of the first poll counts. */
const FIRST_GUESS = 0.5
/** ms after which recent articles count half. Breaking news lasts about this long. */
const LATELY = 90 * MINUTE
/**
 * Added to the articles that were found recently and to those that were expected. So a single
 * article more or less changes today's rate little.
 */
const CAUTION = 1.5
/**
 * A poll counts at most this many new articles beyond twice the expected number. A larger number is
 * usually old news in a sitemap.
 */
const MOST_AT_ONCE = 20
/** Longest time in ms for which the rate is taken as constant. */
const SLICE = 30 * MINUTE
/**
 * The share of `room` that new articles may fill before the next poll. When one poll finds this
 * share or more, its new articles came as a rush (`rushes`).
 */
const ROOM = 1 / 3
/** Days that a rush is remembered. */
const RUSH_MEMORY = 20
/**
 * `max-age` can delay a poll by at most this part of the longest interval. Some servers send a day
 * with every document, and news must not wait that long.
 */
const BELIEVED_FRESH = 1 / 2

/** The habits of a feed after a poll. */
export function learn(before: Habits | null, { now, found, room, dated }: PollResult): Habits {
  if (before === null) {
    const rates = Array(48).fill(bounded(dated ?? UNKNOWN_RATE))
    return {
      since: now,
      at: now,
      rates,
      rushes: Array(24).fill(0),
      found: 0,
      expected: 0,
      room: room ?? null,
    }
  }
  const rates = [...before.rates]
  const rushes = [...before.rushes]
  const isRush = found >= (before.room ?? Infinity) * ROOM
  // By default, two polls are at least a minute apart. If they seem closer, the clock was set back.
  const watched = Math.max(MINUTE, Math.min(now - before.at, WEEK))
  const slices = Math.ceil(watched / SLICE)
  const hours = watched / slices / HOUR
  const moments = Array.from(
    { length: slices },
    (_, slice) => now - watched + (slice + 0.5) * hours * HOUR,
  )
  const promised = moments.map(moment => rateAt(before.rates, moment) * hours)
  const expected = promised.reduce((sum, part) => sum + part, 0)
  const believed = Math.min(found, MOST_AT_ONCE + 2 * expected)
  const age = Math.max(0, now - before.since) / DAY
  for (const [slice, moment] of moments.entries()) {
    // The poll does not show in which slices the articles came. They are divided as the rates
    // predicted.
    const seen = (believed * promised[slice]!) / expected / hours
    const [earlier, later, share] = hoursAround(moment)
    learnHour(rates, earlier, { seen, hours: hours * (1 - share), age })
    learnHour(rates, later, { seen, hours: hours * share, age })
    const faded = rushes[hourOf(moment) % 24]! * Math.exp(-hours / RUSH_MEMORY)
    rushes[hourOf(moment) % 24] = rounded(Math.max(faded, isRush ? found / (watched / HOUR) : 0))
  }
  const fade = 2 ** (-watched / LATELY)
  return {
    since: before.since,
    at: now,
    rates,
    rushes,
    room: room === undefined ? before.room : room,
    found: before.found * fade + believed,
    expected: before.expected * fade + expected,
  }
}

/**
 * Moves a rate towards the rate that was seen. In the first week, working days also move the rates
 * of the weekend, which may not have been seen yet.
 */
function learnHour(
  rates: number[],
  hour: number,
  { seen, hours, age }: { seen: number; hours: number; age: number },
) {
  for (const cell of age < 7 && hour < 24 ? [hour, hour + 24] : [hour]) {
    const memory = Math.min(cell < 24 ? MEMORY.workdays : MEMORY.weekend, FIRST_GUESS + age)
    const moved = rates[cell]! + (1 - Math.exp(-hours / memory)) * (seen - rates[cell]!)
    rates[cell] = rounded(bounded(moved))
  }
}

const rounded = (rate: number) => Math.round(rate * 1e6) / 1e6
const bounded = (rate: number) => Math.min(Math.max(rate, LEAST), MOST)

/** The predicted articles an hour at a moment, by its hour and kind of day. */
function rateAt(rates: number[], moment: number): number {
  const [earlier, later, share] = hoursAround(moment)
  return rates[earlier]! * (1 - share) + rates[later]! * share
}

/**
 * A moment lies between the middles of two neighbouring hours. Returns the indexes of both hours in
 * `rates`, the earlier one first. The third value is the weight of the later hour. A rate is the
 * weighted mean of both hours, so that it does not jump at a full hour.
 */
function hoursAround(moment: number): [number, number, number] {
  const before = moment - HOUR / 2
  return [hourOf(before), hourOf(before + HOUR), (before % HOUR) / HOUR]
}

/** The index of a moment's hour in `rates`. 1 January 1970 was a Thursday. */
function hourOf(moment: number): number {
  const weekday = (Math.floor(moment / DAY) + 4) % 7
  return Math.floor((moment % DAY) / HOUR) + (weekday === 0 || weekday === 6 ? 24 : 0)
}

/**
 * ms until the next poll of a feed that answers.
 *
 * The rates are scaled by the articles of the last polls, because a holiday is quieter than its
 * weekday, and an hour of breaking news is busier. A feed that may roll over is polled in time. An
 * answer with a freshness time is not requested again before that time is over, within limits.
 *
 * @param fresh ms for which the server promises that the answer does not change
 */
export function nextPoll(habits: Habits, fresh: number, { min, max }: IntervalRange): number {
  const longest = Math.max(min, max)
  const today = (CAUTION + habits.found) / (CAUTION + habits.expected)
  const room = (habits.room ?? Infinity) * ROOM
  let wait = 0
  let arrived = 0
  let filled = 0
  let waited = 0
  while (wait < longest && waited < PRICE && filled < room) {
    const moment = habits.at + wait
    const step = Math.min(Math.max(wait, min, 1) / 8, longest - wait)
    const coming = (rateAt(habits.rates, moment) * today * step) / HOUR
    // The share of articles that are older than PATIENCE when the poll comes, if they come evenly
    // during the wait.
    const late = Math.max(0, 1 - PATIENCE / Math.max(1, wait))
    waited += (arrived + coming / 2) * step * (1 + LATE * late)
    arrived += coming
    filled += Math.max(coming, (habits.rushes[hourOf(moment) % 24]! * step) / HOUR)
    wait += step
  }
  // `max-age` does not count when the feed may roll over within `wait`, because articles would be
  // lost.
  const believed = filled < room ? Math.min(fresh, max * BELIEVED_FRESH) : 0
  return Math.round(Math.min(Math.max(wait, believed, min), longest))
}

/** Mean ms between two articles, over a week with these habits. */
export function articleInterval({ rates }: Habits): number {
  const week = rates.reduce((sum, rate, hour) => sum + rate * (hour < 24 ? 5 : 2), 0)
  return Math.round(Math.min(WEEK / week, LONGEST_INTERVAL))
}

const LONGEST_INTERVAL = 20 * DAY

/**
 * The articles an hour by the newer half of these dates; null: there are too few dates. The older
 * half is left out, because its oldest date may belong to a page that was pinned years ago.
 */
export function datedRate(dates: (string | null)[], now: number): number | null {
  const times = dates.map(date => Date.parse(date?.slice(0, 100) ?? '')).filter(time => time <= now)
  if (times.length < 2) return null
  const newer = times.toSorted((a, b) => b - a).slice(0, Math.ceil(times.length / 2))
  return newer.length / (Math.max(HOUR, now - newer.at(-1)!) / HOUR)
}

/**
 * ms until the next poll of a feed that fails. The wait doubles with each failure, up to sixteen
 * times the shortest. It stays there for eight failures, so that we soon notice the end of an
 * outage of an hour or two. Then it grows to the longest.
 *
 * @param failures the number of failures in a row, this one included
 */
export function nextPollAfterFailure(failures: number, { min, max }: IntervalRange): number {
  const doublings = failures <= PLATEAU ? failures : Math.max(PLATEAU, failures - PLATEAU_FAILURES)
  return Math.round(Math.min(Math.max(min, 1) * 2 ** Math.min(doublings, 30), Math.max(min, max)))
}

const PLATEAU = 4
const PLATEAU_FAILURES = 8

/**
 * ms for which an answer stays fresh by its own headers (RFC 9111 §4.2): `max-age` less the time in
 * a cache. 0: the headers do not say, or forbid storing.
 *
 * `s-maxage` is for caches between the outlet and its readers, and `Expires` is mostly a date from
 * a template, so neither counts.
 */
export function freshFor(headers: Record<string, string>): number {
  const control = (headers['cache-control'] ?? '').slice(0, LONGEST_HEADER)
  if (/(?:^|[\s,])no-(?:cache|store)\b/i.test(control)) return 0
  const [, age] = /(?:^|[\s,])max-age\s*=\s*"?(\d+)"?\s*(?:,|$)/i.exec(control) ?? []
  return Math.max(0, secondsOf(age) - secondsOf(headers.age)) * 1_000
}

const LONGEST_HEADER = 1_000
/** RFC 9111 §1.2.2: any larger number counts as this one. */
const MOST_SECONDS = 2 ** 31

const secondsOf = (text: string | undefined) =>
  text !== undefined && /^\d{1,15}$/.test(text.trim()) ? Math.min(Number(text), MOST_SECONDS) : 0
