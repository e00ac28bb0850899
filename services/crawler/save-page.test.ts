import t from 'tap'
import { retryAfter } from './save-page.ts'

const MINUTE = 60_000
const DAY = 86_400_000

t.test(
  'a failing page is tried again after CRAWL_RETRY_MIN, doubling, and given up after a day',
  async t => {
    const waits: number[] = []
    let since = 0
    for (let attempts = 1; ; attempts += 1) {
      const wait = retryAfter(attempts, since, MINUTE)
      if (wait === null) break
      waits.push(wait)
      since += wait
    }
    const doubling = [1, 2, 4, 8, 16].map(minutes => minutes * MINUTE)
    t.same(waits.slice(0, 5), doubling)
    t.equal(since, DAY, 'the last try is a day after the first')
    t.equal(waits.length, 11)
    t.equal(retryAfter(1, 0, 2 * DAY), DAY, 'a longer pause than a day is one day')
    t.equal(retryAfter(2, 0.6 * DAY, 2 * DAY), null)
    t.same(
      [retryAfter(1, DAY - MINUTE, MINUTE), retryAfter(2, DAY - MINUTE, MINUTE)],
      [MINUTE, null],
    )
    t.ok((retryAfter(60, 0, 0) ?? 0) > 0, 'no pause at all would be a busy loop')
  },
)
