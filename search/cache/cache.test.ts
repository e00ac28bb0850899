import t from 'tap'
import type { SegmentMeta } from '../store/segment-store.ts'
import { createCache, createCacheBySegment, ENTRY_BYTES } from './cache.ts'

const VALUE = 1_000
const PART = VALUE + ENTRY_BYTES
const ROOM = 100 * PART

t.test('the least recently used values are dropped, and the limit holds', async t => {
  const cache = createCache<number, string>(ROOM)
  cache.set(0, 'read again and again', VALUE)
  for (let key = 1; key <= 1_000; key++) {
    cache.set(key, `value ${key}`, VALUE)
    if (cache.stats().used > ROOM) t.fail(`${cache.stats().used} bytes after ${key}`)
    if (key % 20 === 0) t.equal(cache.get(0), 'read again and again')
  }
  t.equal(cache.get(1_000), 'value 1000')
  t.equal(cache.get(1), undefined)
  t.same(cache.stats(), { limit: ROOM, used: ROOM })
})

t.test('a value that is set again counts once', async t => {
  const cache = createCache<number, string>(ROOM)
  cache.set(1, 'one', VALUE)
  for (let time = 0; time < 1_000; time++) cache.set(2, `two ${time}`, VALUE)
  t.equal(cache.get(2), 'two 999')
  t.equal(cache.get(1), 'one')
  t.equal(cache.stats().used, 2 * (VALUE + ENTRY_BYTES))
})

t.test('a value larger than the limit is not kept and drops no other', async t => {
  const cache = createCache<number, string>(ROOM)
  cache.set(1, 'small', VALUE)
  cache.set(2, 'too large', ROOM)
  t.equal(cache.get(2), undefined)
  t.equal(cache.get(1), 'small')
})

const segmentOf = (no: number, first: bigint, last: bigint): SegmentMeta => ({
  no,
  first,
  last,
  bucketBits: 0,
  published: null,
  ingested: null,
  undated: 0,
})

t.test('a merged segment replaces the segments that it was made from, key by key', async t => {
  const cache = createCacheBySegment<string>(ROOM)
  const parts = [segmentOf(1, 1n, 10n), segmentOf(2, 11n, 20n)]
  const other = segmentOf(3, 21n, 30n)
  for (const segment of [...parts, other]) cache.set({ segment, key: 'a' }, `${segment.no}`, VALUE)
  cache.set({ segment: segmentOf(4, 1n, 20n), key: 'a' }, 'merged', VALUE)
  for (const segment of parts) t.equal(cache.get({ segment, key: 'a' }), undefined)
  t.equal(cache.get({ segment: other, key: 'a' }), '3')
  t.equal(cache.stats().used, 2 * PART + ENTRY_BYTES)
})

t.test(
  'the limit holds, and the least recently used key is dropped with all its segments',
  async t => {
    const cache = createCacheBySegment<string>(ROOM)
    const segments = Array.from({ length: 10 }, (_, no) =>
      segmentOf(no, BigInt(no * 10 + 1), BigInt(no * 10 + 10)),
    )
    for (let key = 0; key < 100; key++) {
      for (const segment of segments) {
        cache.set({ segment, key: `${key}` }, `${key}`, VALUE)
        if (cache.stats().used > ROOM) t.fail(`${cache.stats().used} bytes`)
        cache.get({ segment, key: '0' })
      }
    }
    for (const segment of segments) {
      t.equal(cache.get({ segment, key: '0' }), '0')
      t.equal(cache.get({ segment, key: '1' }), undefined)
    }
  },
)
