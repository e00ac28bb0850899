import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { createRandom } from '../../test/faults/random.ts'
import {
  arraySet,
  bitmapSet,
  type DocIdSet,
  difference,
  docsOf,
  has,
  intersection,
  intersectionOf,
  lastingArray,
  ownCopy,
  passing,
  rangeSet,
  ranges,
  union,
  walk,
} from './doc-id-set.ts'
import { bodyBytes, entryBytes, entryStart, readEntry, writeEntry } from './postings.ts'

const SIZE = 300
const LARGEST = 65_536

/** Sets of random documents, in any form. */
const setsOf = (size: number, doc: fc.Arbitrary<number>) =>
  fc
    .record({
      docs: fc.uniqueArray(doc, { maxLength: SIZE }),
      form: fc.constantFrom('list', 'lasting', 'bits'),
    })
    .map(({ docs, form }) => {
      const sorted = Uint16Array.from(docs.sort((a, b) => a - b))
      if (form !== 'bits')
        return form === 'list' ? arraySet(sorted, size) : lastingArray(sorted, size)
      const bits = new Uint32Array(Math.ceil(size / 32))
      for (const doc of sorted) bits[doc >>> 5] = bits[doc >>> 5]! | (1 << (doc & 31))
      return bitmapSet(bits, size)
    })
const docSet = setsOf(SIZE, fc.nat(SIZE - 1))
/** Documents at both ends of the largest segment. */
const atEnds = setsOf(
  LARGEST,
  fc.oneof(fc.nat(63), fc.integer({ min: LARGEST - 64, max: LARGEST - 1 })),
)

const plain = (set: DocIdSet) => {
  const docs = Array.from(docsOf(set))
  assert.equal(set.count, docs.length)
  return docs
}

t.test('sets of documents in any form combine as sets do, and none is changed', async () => {
  const several = { minLength: 2, maxLength: 5 }
  fc.assert(
    fc.property(fc.oneof(fc.array(docSet, several), fc.array(atEnds, several)), sets => {
      const before = sets.map(plain)
      const a = sets[0]!
      const b = sets[1]!
      const x = new Set(before[0])
      const y = new Set(before[1])
      const sorted = (docs: Iterable<number>) => [...docs].sort((p, q) => p - q)
      assert.deepEqual(plain(intersection(a, b)), sorted([...x].filter(doc => y.has(doc))))
      assert.deepEqual(plain(difference(a, b)), sorted([...x].filter(doc => !y.has(doc))))
      assert.deepEqual(plain(union(sets, a.size)), sorted(new Set(before.flat())))
      assert.deepEqual(
        plain(intersectionOf(sets)),
        before[0]!.filter(doc => before.every(docs => docs.includes(doc))),
      )
      assert.deepEqual(
        plain(passing(a, doc => doc % 3 === 0)),
        sorted(x).filter(doc => doc % 3 === 0),
      )
      for (const doc of [0, 31, 32, 299, a.size - 1]) assert.equal(has(a, doc), x.has(doc))
      assert.deepEqual(sets.map(plain), before)
    }),
    { numRuns: 1_000 },
  )
})

t.test('sets that operations made stay as they are while others are made', async () => {
  // The segment is large, so that lists of every length are looked up in one another, and the arena
  // is replaced many times.
  const size = LARGEST
  const { below } = createRandom(1)
  const random = () => {
    const docs = Uint16Array.from(
      new Set(Array.from({ length: 2 ** below(13) }, () => below(size))),
    ).sort()
    return below(2) === 0 ? arraySet(docs, size) : lastingArray(docs, size)
  }
  const made: { set: DocIdSet; docs: number[] }[] = []
  for (let round = 0; round < 1_000; round++) {
    const a = random()
    const b = random()
    const x = Array.from(docsOf(a))
    const y = new Set(docsOf(b))
    made.push({ set: intersection(a, b), docs: x.filter(doc => y.has(doc)) })
    made.push({ set: difference(a, b), docs: x.filter(doc => !y.has(doc)) })
    // The test of `passing` uses sets itself.
    const odd = passing(a, doc => intersection(arraySet(Uint16Array.of(doc), size), b).count === 0)
    made.push({ set: odd, docs: x.filter(doc => !y.has(doc)) })
    made.push({ set: ownCopy(odd), docs: x.filter(doc => !y.has(doc)) })
    made.push({
      set: union([a, b], size),
      docs: Array.from(new Set([...x, ...y])).sort((p, q) => p - q),
    })
    const first = Math.min(...x)
    made.push({
      set: ranges(a, 0, first + 1, size - 1),
      docs: x.filter(doc => doc === first || doc === size - 1),
    })
  }
  for (const { set, docs } of made) assert.deepEqual(Array.from(docsOf(set)), docs)
  const ends = arraySet(Uint16Array.of(0, size - 1), size)
  assert.deepEqual(Array.from(docsOf(union([ends, arraySet(Uint16Array.of(5), size)], size))), [
    0,
    5,
    size - 1,
  ])
  const copy = ownCopy(intersection(ends, ends))
  assert.ok(copy.kind === 'array' && copy.docs.buffer.byteLength === 4, 'holds nothing but its own')
})

t.test('documents are walked in either direction until it is enough', async () => {
  fc.assert(
    fc.property(docSet, fc.boolean(), fc.nat(20), (set, backwards, limit) => {
      const visited: number[] = []
      walk(set, backwards, doc => visited.push(doc) < limit)
      const all = Array.from(docsOf(set))
      assert.deepEqual(visited, (backwards ? all.reverse() : all).slice(0, Math.max(limit, 1)))
    }),
    { numRuns: 300 },
  )
})

t.test('a range holds what lies in it', async () => {
  fc.assert(
    fc.property(fc.nat(SIZE), fc.nat(SIZE), (from, to) => {
      assert.deepEqual(
        plain(rangeSet(from, to, SIZE)),
        Array.from({ length: Math.max(0, to - from) }, (_, at) => from + at),
      )
    }),
  )
})

t.test('of a set, two stretches are what lies in either', async () => {
  const bounds = fc
    .tuple(fc.nat(SIZE), fc.nat(SIZE), fc.nat(SIZE))
    .map(all => all.sort((a, b) => a - b))
  fc.assert(
    fc.property(docSet, bounds, (set, [from = 0, to = 0, rest = 0]) => {
      assert.deepEqual(
        plain(ranges(set, from, to, rest)),
        plain(set).filter(doc => (doc >= from && doc < to) || doc >= rest),
      )
    }),
    { numRuns: 1_000 },
  )
})

t.test('lists come back from a bucket as they were written', async () => {
  const names = fc.uniqueArray(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 }), {
    maxLength: 6,
  })
  fc.assert(
    fc.property(names, fc.array(docSet, { minLength: 6, maxLength: 6 }), (terms, sets) => {
      const lists = terms.map((term, index) => {
        const docs = docsOf(sets[index]!)
        const list = { docs: Uint16Array.of(7, ...docs, 7), from: 1, to: docs.length + 1 }
        return { term, list, body: bodyBytes(list, SIZE) }
      })
      const block = Buffer.alloc(
        lists.reduce((sum, { term, body }) => sum + entryBytes(term, body), 0),
      )
      const end = lists.reduce(
        (at, { term, list, body }) => writeEntry(block, at, term, list, body, SIZE),
        0,
      )
      assert.equal(end, block.length)
      const found = (term: string) => readEntry(block, entryStart(term), SIZE)
      assert.equal(found('absent term'), undefined)
      terms.forEach((term, index) => {
        assert.deepEqual(docsOf(found(term)!), docsOf(sets[index]!))
        assert.ok(block.includes(entryStart(term)), 'Postgres finds the bucket by these bytes')
      })
    }),
    { numRuns: 300 },
  )
})
