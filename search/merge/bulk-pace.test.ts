import tap from 'tap'
import { createBulkPace } from './bulk-pace.ts'

const FLUSHED = 8_192
const BATCH = 200

interface Simulated {
  /** Articles a second, until the last one has a segment. */
  perSecond: number
  /** Most articles that were written within a second, in the second half. */
  most: number
  /** Most articles without a segment. */
  backlog: number
}

/**
 * An import by the clock: batches are written at a rate, and a thread makes segments at another, of
 * 8,192 articles at a time. After every eighth it merges, which takes as long as four of them.
 */
function simulate(articles: number, writes: (last: number) => number, segments: number): Simulated {
  const pace = createBulkPace(BigInt(FLUSHED))
  const written: { at: number; last: number }[] = []
  const made: { at: number; covered: number }[] = []
  const flushMs = (FLUSHED / segments) * 1_000
  let now = 0
  let free = 0
  let [last, covered, planned, backlog] = [0, 0, 0, 0]
  while (last < articles) {
    now += (BATCH / writes(last)) * 1_000
    last += BATCH
    written.push({ at: now, last })
    for (; planned + FLUSHED <= last; planned += FLUSHED) {
      free = Math.max(free, now) + flushMs
      made.push({ at: free, covered: planned + FLUSHED })
      if (made.length % 8 === 0) free += 4 * flushMs
    }
    covered = made.findLast(one => one.at <= now)?.covered ?? 0
    backlog = Math.max(backlog, last - covered)
    now += pace.pause(BigInt(last), BigInt(covered), now)
  }
  const calm = written.filter(one => one.last > articles / 2)
  const within = calm.map(one => one.last - (written.findLast(other => other.at <= one.at - 1_000) ?? one).last)
  return { perSecond: articles / (Math.max(free, now) / 1_000), most: Math.max(0, ...within), backlog }
}

for (const segments of [500, 2_000, 3_000, 8_000]) {
  tap.test(`articles come about as fast as ${segments} a second get a segment`, t => {
    const limit = (segments * 8) / 12
    const { perSecond, most, backlog } = simulate(400_000, () => 12_000, segments)
    t.comment(`${perSecond.toFixed(0)} of ${limit.toFixed(0)} a second, ${most} in one, ${backlog} waited`)
    t.ok(perSecond > limit * 0.85, 'the thread that makes segments is rarely idle')
    t.ok(most < limit * 1.7 + BATCH, 'no bursts')
    t.ok(backlog < 40_000, 'few wait')
    t.end()
  })
}

tap.test('a slow writer never waits', t => {
  const { perSecond } = simulate(100_000, () => 300, 3_000)
  t.ok(perSecond > 295, `${perSecond.toFixed(0)} a second`)
  t.end()
})

tap.test('a file that came slowly is soon written as fast as another', t => {
  const slow = 20_000
  const alone = slow / 10
  const { perSecond } = simulate(400_000, last => (last < slow ? 10 : 12_000), 3_000)
  const quick = (400_000 - slow) / (400_000 / perSecond - alone)
  t.ok(quick > 1_600, `${quick.toFixed(0)} a second`)
  t.end()
})
