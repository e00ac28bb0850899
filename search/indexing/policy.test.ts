import t from 'tap'
import type { SegmentRange } from '../store/segment-store.ts'
import { endOfFlush, mergesDue, nextFlush, partOfTime, remainderToFlush } from './policy.ts'

const SIZES = { flushed: 2n, merged: 16n }

const nextRange = (stored: SegmentRange[], last: bigint) =>
  mergesDue(stored, SIZES)[0] ?? nextFlush(stored, last, SIZES)

/** Makes `count` ranges of a size, one after the other. */
const ranges = (size: bigint, count: number, first = 1n) =>
  Array.from({ length: count }, (_, number) => first + BigInt(number) * size).map(from => ({
    first: from,
    last: from + size - 1n,
  }))

/** The ranges of all segments after articles up to `last` have come in, one by one. */
function makeAll(last: bigint): SegmentRange[] {
  let stored: SegmentRange[] = []
  for (let newest = 0n; newest <= last; newest++) {
    for (let range = nextRange(stored, newest); range !== null; range = nextRange(stored, newest)) {
      const { first, last: end } = range
      stored = [...stored.filter(one => one.first < first || one.last > end), range].sort((a, b) =>
        Number(a.first - b.first),
      )
    }
  }
  return stored
}

t.test(
  'segments cover the articles from the first on, each once, large ones where they are full',
  async t => {
    t.same(makeAll(1n), [])
    t.same(makeAll(2n), ranges(2n, 1))
    t.same(makeAll(3n), ranges(2n, 1))
    t.same(makeAll(4n), ranges(2n, 2))
    t.same(makeAll(15n), ranges(2n, 7))
    t.same(makeAll(16n), ranges(16n, 1))
    t.same(makeAll(47n), [...ranges(16n, 2), ...ranges(2n, 7, 33n)])
  },
)

t.test(
  'an import that comes at once goes straight into the largest segments that it fills',
  async t => {
    t.same(nextRange([], 40n), { first: 1n, last: 16n })
    t.same(nextRange([], 16n), { first: 1n, last: 16n }, 'it is full')
    t.same(nextRange(ranges(16n, 1), 40n), { first: 17n, last: 32n })
    t.same(nextRange(ranges(16n, 2), 40n), { first: 33n, last: 34n })
    t.same(
      nextRange(ranges(2n, 1), 40n),
      { first: 3n, last: 4n },
      'a small one stands where a larger would begin',
    )
  },
)

t.test('the last articles of an import get a segment, unless they are few', async t => {
  const sizes = { flushed: 8n, merged: 16n }
  const stored = ranges(8n, 1)
  t.equal(remainderToFlush(stored, 7n, sizes), null, 'another process has made it')
  t.equal(remainderToFlush(stored, 8n, sizes), null)
  t.equal(remainderToFlush(stored, 8n, SIZES), null)
  t.equal(remainderToFlush(stored, 9n, sizes), null)
  t.same(remainderToFlush(stored, 10n, sizes), { first: 9n, last: 10n })
  t.same(remainderToFlush(ranges(8n, 2), 18n, sizes), { first: 17n, last: 18n })
  t.same(remainderToFlush([], 2n, sizes), { first: 1n, last: 2n })
  const rest = { first: 9n, last: 10n }
  t.same(
    nextFlush([...stored, rest], 18n, sizes),
    { first: 11n, last: 16n },
    'later ones end where they would have',
  )
  t.same(
    mergesDue([...stored, rest], sizes),
    [{ first: 1n, last: 10n }],
    'another flush has no room',
  )
})

t.test(
  'the next segment takes the articles of one that would be very short, within its block',
  t => {
    const sizes = { flushed: 8n, merged: 32n }
    t.equal(endOfFlush(0n, sizes), 8n)
    t.equal(endOfFlush(6n, sizes), 8n)
    t.equal(endOfFlush(7n, sizes), 16n)
    t.equal(nextFlush([{ first: 1n, last: 7n }], 15n, sizes), null)
    t.same(nextFlush([{ first: 1n, last: 7n }], 16n, sizes), { first: 8n, last: 16n })
    t.equal(endOfFlush(31n, sizes), 32n, 'no segment crosses a block')
    t.equal(endOfFlush(32n, sizes), 40n)
    t.end()
  },
)

t.test('segments of any length become large ones, and large ones stay as they are', async t => {
  t.equal(nextRange([{ first: 1n, last: 32n }], 33n), null)
  const lengths = [3n, 4n, 1n, 7n, 2n, 16n, 1n, 3n, 9n, 5n]
  let last = 0n
  const stored = lengths.map(length => {
    const first = last + 1n
    last += length
    return { first, last }
  })
  const due = [
    { first: 1n, last: 15n },
    { first: 34n, last: 37n },
  ]
  t.same(mergesDue(stored, SIZES), due)
  const merged = [
    due[0]!,
    { first: 16n, last: 17n },
    { first: 18n, last: 33n },
    due[1]!,
    ...stored.slice(8),
  ]
  t.same(mergesDue(merged, SIZES), [], 'nothing is merged again')
  const large = { first: 3n, last: 11n }
  const after = ranges(2n, 3, 12n)
  t.same(
    mergesDue([...ranges(2n, 1), large, ...after], SIZES),
    [],
    'no run reaches over a large one',
  )
  const full = [
    { first: 1n, last: 8n },
    { first: 9n, last: 14n },
    { first: 15n, last: 22n },
  ]
  t.same(mergesDue(full, SIZES), [{ first: 1n, last: 14n }], 'or beyond the largest size')
})

t.test('a segment is made gently, until the next one waits for it', async t => {
  const block = { first: 17n, last: 32n }
  const [small] = ranges(2n, 1, 33n)
  const gentle = partOfTime('flush', small!, { newest: 34n, covered: 32n }, SIZES)
  t.equal(gentle, 1 / 8)
  t.equal(partOfTime('flush', small!, { newest: 35n, covered: 32n }, SIZES), gentle)
  t.equal(partOfTime('flush', small!, { newest: 36n, covered: 32n }, SIZES), 1)
  t.equal(
    partOfTime('flush', block, { newest: 32n, covered: 16n }, SIZES),
    1,
    'a whole block waits in memory',
  )
  t.equal(partOfTime('merge', block, { newest: 41n, covered: 38n }, SIZES), gentle)
  t.equal(partOfTime('merge', block, { newest: 41n, covered: 40n }, SIZES), 1)
})
