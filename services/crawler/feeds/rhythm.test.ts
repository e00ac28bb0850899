import fc from 'fast-check'
import t from 'tap'
import LESSONS from './lessons.json' with { type: 'json' }
import {
  articleInterval,
  datedRate,
  freshFor,
  type Habits,
  learn,
  nextPoll,
  nextPollAfterFailure,
} from './rhythm.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const RANGE = { min: MINUTE, max: HOUR }
/** A Monday, midnight in UTC. */
const MONDAY = Date.UTC(2026, 10, 2)

interface Followed {
  habits: Habits
  polls: { at: number; wait: number }[]
  delays: number[]
}

/** Polls a feed for some days. `published` has the times of its articles, the earliest first. */
function follow(published: number[], days: number, room: number | null = null): Followed {
  const polls: { at: number; wait: number }[] = []
  const delays: number[] = []
  let habits: Habits | null = null
  for (let now = MONDAY, next = 0; now < MONDAY + days * DAY; ) {
    const before = next
    for (; next < published.length && published[next]! <= now; next += 1)
      delays.push(now - published[next]!)
    habits = learn(habits, { now, found: next - before, room })
    const wait = nextPoll(habits, 0, RANGE)
    polls.push({ at: now, wait })
    now += wait
  }
  return { habits: habits!, polls, delays }
}

const evenly = (every: number, days: number) =>
  Array.from(
    { length: Math.floor((days * DAY) / every) },
    (_, number) => MONDAY + (number + 1) * every,
  )

const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length

/**
 * The mean length in minutes of the pauses that begin in an hour of a day. Day 0 is the first
 * Monday.
 */
const pauses = ({ polls }: Followed, day: number, hour: number) =>
  mean(
    polls
      .filter(({ at }) => Math.floor((at - MONDAY) / HOUR) === day * 24 + hour)
      .map(({ wait }) => wait),
  ) / MINUTE

t.test(
  'the pause follows the square root of the rate: a busy feed every few minutes, a quiet one seldom',
  async t => {
    const last = (every: number) => {
      const { polls } = follow(evenly(every, 14), 14)
      return (
        mean(polls.filter(({ at }) => at >= MONDAY + 13 * DAY).map(({ wait }) => wait)) / MINUTE
      )
    }
    const [busy, usual, quiet] = [last(MINUTE), last(9 * MINUTE), last(100 * HOUR)] as const
    t.ok(busy >= 2 && busy <= 6, `${busy}`)
    t.ok(usual / busy > 2 && usual / busy < 4, `${usual} is about three times ${busy}`)
    t.ok(quiet > 28, `${quiet}`)
  },
)

t.test('an article never waits longer than POLL_INTERVAL_MAX', async () => {
  const every = fc.integer({ min: MINUTE, max: 30 * HOUR })
  fc.assert(
    fc.property(every, every => follow(evenly(every, 3), 3).delays.every(delay => delay <= HOUR)),
    { numRuns: 30 },
  )
})

t.test(
  'whatever the polls found, the next one lies within the bounds; freshness never hurries it',
  async t => {
    const poll = fc.record({
      pause: fc.nat(10 * DAY),
      found: fc.nat(100_000),
      room: fc.option(fc.nat(100)),
      dated: fc.option(fc.double({ min: 0, max: 1e9, noNaN: true })),
    })
    fc.assert(
      fc.property(fc.array(poll, { minLength: 1 }), fc.nat(2 * DAY), (polls, fresh) => {
        let habits: Habits | null = null
        let now = MONDAY
        for (const { pause, ...result } of polls) {
          now += pause
          habits = learn(habits, { now, ...result })
        }
        const wait = nextPoll(habits!, fresh, RANGE)
        const stale = nextPoll(habits!, 0, RANGE)
        const isBounded =
          stale >= RANGE.min && wait >= stale && wait <= Math.max(stale, RANGE.max / 2)
        return isBounded && wait <= RANGE.max && articleInterval(habits!) > 0
      }),
    )
    const busy = learn(null, { now: MONDAY, found: 1, dated: 100 })
    t.equal(nextPoll(busy, HOUR, { min: HOUR, max: MINUTE }), HOUR, 'the shortest interval holds')
  },
)

/** Twelve articles an hour from nine to five, on working days. */
const office = (days: number) =>
  evenly(5 * MINUTE, days).filter(at => {
    const day = Math.floor((at - MONDAY) / DAY) % 7
    const hour = Math.floor((at % DAY) / HOUR)
    return day < 5 && hour >= 9 && hour < 17
  })

t.test(
  'hours and weekends are learned: little is asked at night, and more before the first article',
  async t => {
    const followed = follow(office(21), 28)
    t.ok(pauses(followed, 17, 12) < 10, 'at noon')
    t.ok(pauses(followed, 17, 2) > 3 * pauses(followed, 17, 12), 'at night')
    t.ok(pauses(followed, 19, 12) > 2 * pauses(followed, 17, 12), 'at a weekend')
    t.ok(pauses(followed, 17, 8) < 30, 'in the hour before the first article')
    // From the fourth week on, the feed has no new articles.
    t.ok(pauses(followed, 21, 14) > 2 * pauses(followed, 17, 14), 'on a holiday')
    t.equal(
      Math.round(articleInterval(follow(office(14), 14).habits) / MINUTE / 10),
      2,
      'a week has 480 articles',
    )
  },
)

t.test(
  'after the first week a poll teaches its own kind of day alone; the weekend has two days',
  async t => {
    const first = learn(null, { now: MONDAY, found: 0, dated: 1 })
    const taughtOn = (day: number) => {
      const noon = MONDAY + (14 + day) * DAY + 12 * HOUR
      const { rates } = learn({ ...first, at: noon - HOUR }, { now: noon, found: 9 })
      const cells = [...rates.entries()].filter(([, rate]) => rate !== 1).map(([cell]) => cell)
      return cells.every(cell => cell >= 24)
        ? 'weekend'
        : cells.every(cell => cell < 24)
          ? 'working day'
          : 'both'
    }
    t.strictSame([0, 1, 2, 3, 4, 5, 6].map(taughtOn), [
      ...Array(5).fill('working day'),
      'weekend',
      'weekend',
    ])
  },
)

t.test('breaking news is asked for more often, until it is over', async t => {
  const calm = evenly(7 * HOUR, 9)
  const breaking = Array.from(
    { length: 60 },
    (_, number) => MONDAY + 8 * DAY + 12 * HOUR + number * MINUTE,
  )
  const published = [...calm, ...breaking].toSorted((a, b) => a - b)
  const followed = follow(published, 9)
  t.ok(pauses(followed, 7, 12) > 2 * pauses(followed, 8, 12))
  t.ok(pauses(followed, 8, 20) > 1.5 * pauses(followed, 8, 12))
})

t.test('old news in a sitemap is no breaking news', async t => {
  const old = Array.from({ length: 10_000 }, () => MONDAY + 8 * DAY + 12 * HOUR)
  const followed = follow([...evenly(7 * HOUR, 8), ...old], 9)
  t.ok(pauses(followed, 8, 20) > 20)
})

t.test('a feed that shows few entries is asked before they may all be new', async t => {
  const { habits } = follow(evenly(20 * MINUTE, 7), 7)
  const wait = nextPoll(habits, 0, RANGE)
  t.ok(nextPoll({ ...habits, room: 1 }, 0, RANGE) < 0.7 * wait)
  t.equal(nextPoll({ ...habits, room: 50 }, 0, RANGE), wait)
})

t.test(
  'an edition that fills the feed at the same time each day is met in time once it was seen',
  async t => {
    const edition = Array.from({ length: 10 * 15 }, (_, number) => {
      const day = Math.floor(number / 15)
      return MONDAY + day * DAY + 6 * HOUR + 20 * MINUTE + ((number % 15) * MINUTE) / 3
    })
    t.ok(pauses(follow(edition, 10, 15), 9, 6) < 4)
    t.ok(pauses(follow(edition, 10), 9, 6) > 4, 'where nothing rolls off there is time')
  },
)

t.test('a clock that is set back makes no rush that lasts', t => {
  const before = learn(null, { now: MONDAY, found: 20, room: 20, dated: 1 })
  const after = learn(before, { now: MONDAY - HOUR, found: 8 })
  t.ok(Math.max(...after.rushes) <= 8 * 60, `${Math.max(...after.rushes)}`)
  t.end()
})

t.test(
  'the dates of a first document tell how much comes; without them the feed is asked often at first',
  async t => {
    const dates = [
      'Mon, 02 Nov 2026 00:00:00 GMT',
      '2026-11-02T12:00:00Z',
      null,
      'yesterday',
      '2026-12-01T00:00:00Z',
    ]
    t.equal(datedRate(dates, MONDAY + DAY), 2 / 24)
    const hours = [0, 4, 9, 1].map(before => new Date(MONDAY - before * HOUR).toISOString())
    t.equal(datedRate(hours, MONDAY), 2)
    t.equal(datedRate(hours.slice(1), MONDAY), 2 / 4)
    t.equal(datedRate([null, 'today', '2026-11-02T12:00:00Z'], MONDAY + DAY), null)
    const hourly = Array.from({ length: 20 }, (_, number) =>
      new Date(MONDAY + number * HOUR).toISOString(),
    )
    const rate = datedRate([...hourly, '2016-01-01T00:00:00Z'], MONDAY + 20 * HOUR) ?? 0
    t.ok(rate > 0.9 && rate < 1.1, `an old page that is pinned counts for nothing: ${rate}`)
    const first = (dated: number | null) =>
      nextPoll(learn(null, { now: MONDAY, found: 30, dated }), 0, RANGE) / MINUTE
    t.ok(first(30) < first(null) && first(null) < 15)
    t.equal(first(1 / 100), 60)
    t.equal(articleInterval(learn(null, { now: MONDAY, found: 0, dated: 0 })), 20 * DAY)
    const bounds = [0, 1e9].map(dated => learn(null, { now: MONDAY, found: 0, dated }))
    t.same(
      [bounds.map(({ rates }) => rates[0]), bounds[0]!.rushes],
      [[0.001, 3_600], Array(24).fill(0)],
    )
  },
)

t.test(
  'a feed that fails is asked less and less often, yet the end of an outage is soon noticed',
  async t => {
    const minutes = [1, 2, 3, 4, 5, 12, 13, 14, 15, 100].map(
      failures => nextPollAfterFailure(failures, RANGE) / MINUTE,
    )
    t.equal(nextPollAfterFailure(1, { min: 0, max: HOUR }), 2)
    t.same(minutes, [2, 4, 8, 16, 16, 16, 32, 60, 60, 60])
  },
)

t.test(
  'RFC 9111: max-age less the age of the answer; what must not be kept is never fresh',
  async t => {
    for (const [headers, wanted] of LESSONS.fresh as [Record<string, string>, number][])
      t.equal(freshFor(headers), wanted, JSON.stringify(headers))
    t.equal(freshFor({ 'cache-control': `${','.repeat(1_000)}max-age=9` }), 0)
  },
)

t.test('what polls teach, and when the next one comes, in figures', async t => {
  let habits: Habits | null = null
  for (const [minutes, found, room, ...wanted] of LESSONS.polls as [
    number,
    number,
    number | null,
    ...number[],
  ][]) {
    habits = learn(habits, {
      now: MONDAY + minutes * MINUTE,
      found,
      ...(room === null ? {} : { room }),
    })
    const soon = nextPoll(habits, 20 * MINUTE, { min: 0, max: HOUR })
    t.same(
      [nextPoll(habits, 0, RANGE), soon, articleInterval(habits)],
      wanted,
      `after ${minutes} minutes`,
    )
  }
  t.same({ ...habits, expected: Math.round(habits!.expected * 1_000) / 1_000 }, LESSONS.habits)
})
