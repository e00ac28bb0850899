import fc from 'fast-check'
import t from 'tap'
import { freshFor, nextArticleInterval, nextPoll, nextPollAfterFailure } from './schedule.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const RANGE = { min: MINUTE, max: HOUR }

/**
 * Polls a feed that publishes every `every` ms for a day. The last interval, and the mean and
 * longest delay of an article, in minutes.
 */
function follow(every: number, from = 0): { interval: number; mean: number; longest: number; polls: number } {
  const delays: number[] = []
  let [articleInterval, lastNew, now, polls, interval]: [number | null, number, number, number, number] = [
    null,
    from,
    from,
    0,
    0,
  ]
  let published = from + every
  while (now < from + 24 * HOUR) {
    polls += 1
    let discovered = 0
    for (; published <= now; published += every) {
      delays.push(now - published)
      discovered += 1
    }
    const habits = { articleInterval, silence: now - lastNew }
    articleInterval = nextArticleInterval(habits, discovered, polls === 1)
    if (discovered > 0) lastNew = now
    interval = nextPoll({ articleInterval, silence: now - lastNew }, RANGE)
    now += interval
  }
  const mean = delays.reduce((sum, delay) => sum + delay, 0) / Math.max(1, delays.length)
  return { interval: interval / MINUTE, mean: mean / MINUTE, longest: Math.max(0, ...delays) / MINUTE, polls }
}

t.test('a busy feed is asked every minute or two, a quiet one once an hour', async t => {
  t.ok(follow(3 * MINUTE).interval <= 2)
  t.ok(follow(3 * MINUTE).mean <= 1.5)
  t.ok(follow(20 * MINUTE).mean <= 5)
  t.ok(follow(2 * HOUR).interval >= 25)
  t.equal(follow(8 * HOUR).interval, 60)
  t.ok(follow(100 * HOUR).polls < 60, 'one that never says anything costs little')
})

t.test('an article never waits longer than POLL_INTERVAL_MAX', async () => {
  fc.assert(fc.property(fc.integer({ min: 10_000, max: 30 * HOUR }), every => follow(every).longest <= 60))
})

t.test('whatever the habits, the next poll lies within the bounds', async () => {
  const span = fc.double({ min: 0, max: 1e12, noNaN: true })
  fc.assert(
    fc.property(fc.option(span), span, fc.nat(1_000), (articleInterval, silence, failures) => {
      const times = [nextPoll({ articleInterval, silence }, RANGE), nextPollAfterFailure(failures, RANGE)]
      return times.every(time => time >= RANGE.min && time <= RANGE.max)
    }),
  )
})

t.test('a feed that fails is asked less and less often, yet the end of an outage is soon noticed', async t => {
  const minutes = [1, 2, 3, 4, 5, 12, 13, 14, 15, 100].map(failures => nextPollAfterFailure(failures, RANGE) / MINUTE)
  t.same(minutes, [2, 4, 8, 16, 16, 16, 32, 60, 60, 60])
})

t.test('the first poll, which finds the whole feed, says nothing about the article interval', async t => {
  t.equal(nextArticleInterval({ articleInterval: null, silence: 0 }, 30, true), null)
  t.equal(nextArticleInterval({ articleInterval: null, silence: 10 * MINUTE }, 2, false), 5 * MINUTE)
  t.equal(nextArticleInterval({ articleInterval: 5 * MINUTE, silence: HOUR }, 0, false), 5 * MINUTE)
})

t.test('an answer that calls itself fresh bounds the next poll, within limits', async t => {
  const busy = { articleInterval: MINUTE, silence: 0 }
  t.equal(nextPoll({ ...busy, fresh: 5 * MINUTE }, RANGE), 5 * MINUTE)
  t.equal(nextPoll({ ...busy, fresh: 24 * HOUR }, RANGE), HOUR / 4, 'a day is not believed')
  t.equal(nextPoll({ articleInterval: 2 * HOUR, silence: 0, fresh: 5 * MINUTE }, RANGE), HOUR / 2, 'nor does it hurry')
  t.equal(nextPoll({ ...busy, fresh: HOUR }, { min: HOUR, max: MINUTE }), HOUR, 'the shortest interval holds')
})

t.test('RFC 9111: max-age less the age of the answer; what must not be kept is never fresh', async t => {
  const cases: [Record<string, string>, number][] = [
    [{}, 0],
    [{ 'cache-control': 'max-age=300' }, 300_000],
    [{ 'cache-control': 'public, Max-Age="300", must-revalidate', age: '60' }, 240_000],
    [{ 'cache-control': 'max-age=300', age: '900' }, 0],
    [{ 'cache-control': 's-maxage=900' }, 0],
    [{ 'cache-control': 'max-age=300, no-cache' }, 0],
    [{ 'cache-control': 'no-store, max-age=300' }, 0],
    [{ 'cache-control': 'max-age=-5' }, 0],
    [{ 'cache-control': 'max-age=1e9' }, 0],
    [{ 'cache-control': 'max-age=300', age: 'old' }, 300_000],
    [{ 'cache-control': 'max-age=99999999999' }, 2 ** 31 * 1_000],
    [{ 'cache-control': 'max-age=9'.repeat(10_000) }, 0],
  ]
  for (const [headers, wanted] of cases) t.equal(freshFor(headers), wanted, JSON.stringify(headers).slice(0, 80))
})
