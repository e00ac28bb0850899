import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { columnsOf, decodeColumns, documentOrder, encodeColumns, type SegmentArticle } from '../segment/columns.ts'
import { docsOf, listSet, rangeSet } from '../segment/doc-id-set.ts'
import type { Segment } from '../store/segment-store.ts'
import { type Restriction, restrict } from './filter.ts'

const time = fc.integer({ min: 0, max: 12 })
const numbers = fc.option(fc.uniqueArray(fc.integer({ min: 1, max: 4 }), { maxLength: 3 }), { nil: null })

const articles = fc
  .array(
    fc.record({
      published: fc.option(time, { nil: null }),
      ingested: fc.option(time, { nil: null }),
      publisherNo: fc.integer({ min: 1, max: 4 }),
      authorNos: fc.uniqueArray(fc.integer({ min: 1, max: 4 }), { maxLength: 2 }),
    }),
    { minLength: 1, maxLength: 150 },
  )
  .map(all => all.map((one, at): SegmentArticle => ({ ...one, seq: BigInt(at + 100), id: `id${at}` })))

const span = fc.tuple(time, time).map(([a, b]) => ({ from: Math.min(a, b), to: Math.max(a, b) + 1 }))

const restrictions = fc.record({
  bounds: fc.record({
    published: span,
    undatedSince: fc.option(time, { nil: null }),
    ingested: fc.option(span, { nil: null }),
  }),
  watermark: fc.bigInt({ min: 90n, max: 260n }),
  publisherNos: numbers.map(nos => (nos === null ? null : new Set(nos))),
  authorNos: numbers.map(nos => (nos === null ? null : new Set(nos))),
}) satisfies fc.Arbitrary<Restriction>

t.test('a segment says as a whole what is true of each of its documents', async () => {
  fc.assert(
    fc.property(articles, restrictions, fc.boolean(), (all, restriction, every) => {
      const segment = segmentOf(all)
      const sorted = all.toSorted(documentOrder)
      const own = decodeColumns(encodeColumns(columnsOf(sorted, segment.first)))
      const chosen = sorted.map((_, doc) => doc).filter(doc => every || doc % 3 === 0)
      const set = every ? rangeSet(0, own.size, own.size) : listSet(Uint16Array.from(chosen), own.size)
      assert.deepEqual(
        Array.from(docsOf(restrict(set, segment, own, restriction))),
        chosen.filter(doc => isAllowed(sorted[doc]!, restriction)),
      )
    }),
    { numRuns: 3_000 },
  )
})

function isAllowed(article: SegmentArticle, { bounds, watermark, publisherNos, authorNos }: Restriction): boolean {
  const { published, ingested, seq } = article
  const within = (at: number, { from, to }: { from: number; to: number }) => at >= from && at < to
  const since = bounds.undatedSince
  const inTime =
    published === null ? since !== null && ingested !== null && ingested >= since : within(published, bounds.published)
  return (
    inTime &&
    (bounds.ingested === null || (ingested !== null && within(ingested, bounds.ingested))) &&
    seq <= watermark &&
    (publisherNos === null || publisherNos.has(article.publisherNo)) &&
    (authorNos === null || article.authorNos.some(no => authorNos.has(no)))
  )
}

function segmentOf(all: SegmentArticle[]): Segment {
  const spanOf = (times: (number | null)[]) => {
    const some = times.filter(time => time !== null)
    return some.length === 0 ? null : { first: Math.min(...some), last: Math.max(...some) }
  }
  return {
    no: 1,
    first: all[0]!.seq,
    last: all.at(-1)!.seq,
    bucketBits: 0,
    published: spanOf(all.map(one => one.published)),
    ingested: spanOf(all.map(one => one.ingested)),
    undated: all.filter(one => one.published === null).length,
  }
}
