import t from 'tap'
import type { SegmentMeta } from '../store/segment-store.ts'
import { createCacheBySegment, ENTRY_BYTES } from './cache.ts'

const VALUE = 1_000
const PART = VALUE + ENTRY_BYTES

const segmentOf = (no: number, first: bigint, last: bigint): SegmentMeta => ({
  no,
  first,
  last,
  bucketBits: 0,
  published: null,
  ingested: null,
  undated: 0,
})

t.test('a value is found by its key and its segment', async t => {
  const cache = createCacheBySegment<string>(100 * PART)
  const [one, two] = [segmentOf(1, 1n, 10n), segmentOf(2, 11n, 20n)]
  cache.set({ segment: one, key: 'a' }, 'a in one', VALUE)
  cache.set({ segment: two, key: 'a' }, 'a in two', VALUE)
  cache.set({ segment: two, key: 'b' }, 'b in two', VALUE)
  t.equal(cache.get({ segment: one, key: 'a' }), 'a in one')
  t.equal(cache.get({ segment: two, key: 'a' }), 'a in two')
  t.equal(cache.get({ segment: one, key: 'b' }), undefined)
})

t.test('bytes are counted by value, and a value that is set again counts once', async t => {
  const cache = createCacheBySegment<string>(100 * PART)
  for (let no = 0; no < 10; no++) {
    const segment = segmentOf(no, BigInt(no * 10 + 1), BigInt(no * 10 + 10))
    for (let time = 0; time < 3; time++) cache.set({ segment, key: 'a' }, `${time}`, VALUE)
    t.equal(cache.stats().used, (no + 1) * PART + ENTRY_BYTES)
  }
})

t.test('a merged segment replaces the segments that it was made from, key by key', async t => {
  const cache = createCacheBySegment<string>(100 * PART)
  const parts = [segmentOf(1, 1n, 10n), segmentOf(2, 11n, 20n)]
  const other = segmentOf(3, 21n, 30n)
  for (const segment of [...parts, other]) cache.set({ segment, key: 'a' }, `${segment.no}`, VALUE)
  cache.set({ segment: segmentOf(4, 1n, 20n), key: 'a' }, 'merged', VALUE)
  for (const segment of parts) t.equal(cache.get({ segment, key: 'a' }), undefined)
  t.equal(cache.get({ segment: other, key: 'a' }), '3')
  t.equal(cache.stats().used, 2 * PART + ENTRY_BYTES)
})

t.test('the limit holds, and the least recently used key is dropped with all its segments', async t => {
  const limit = 100 * PART
  const cache = createCacheBySegment<string>(limit)
  const segments = Array.from({ length: 10 }, (_, no) => segmentOf(no, BigInt(no * 10 + 1), BigInt(no * 10 + 10)))
  for (let key = 0; key < 100; key++) {
    for (const segment of segments) {
      cache.set({ segment, key: `${key}` }, `${key}`, VALUE)
      if (cache.stats().used > limit) t.fail(`${cache.stats().used} bytes`)
      cache.get({ segment, key: '0' })
    }
  }
  for (const segment of segments) {
    t.equal(cache.get({ segment, key: '0' }), '0')
    t.equal(cache.get({ segment, key: '1' }), undefined)
  }
})
