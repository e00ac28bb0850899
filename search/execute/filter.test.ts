import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import type { TimeBounds } from '../query/filters.ts'
import { and, or, type QueryNode, term } from '../query/parse.ts'
import {
  columnsOf,
  decodeColumns,
  documentOrder,
  encodeColumns,
  type SegmentArticle,
} from '../segment/columns.ts'
import { arraySet, docsOf, rangeSet, union } from '../segment/doc-id-set.ts'
import type { SegmentMeta } from '../store/segment-store.ts'
import { createTopCollector } from './order.ts'
import { applyFilter } from './plan.ts'
import { compile } from './two-phase.ts'

const time = fc.integer({ min: 0, max: 12 })

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
  .map(all =>
    all.map(
      (one, at): SegmentArticle => ({
        ...one,
        seq: BigInt(at + 100),
        id: `id${at}`,
        section: at % 3 === 0 ? null : `S${at % 5}`,
      }),
    ),
  )

const span = fc
  .tuple(time, time)
  .map(([a, b]) => ({ from: Math.min(a, b), to: Math.max(a, b) + 1 }))

const questions = fc.record({
  bounds: fc.record({
    published: span,
    undatedSince: fc.option(time, { nil: null }),
    ingested: fc.option(span, { nil: null }),
    within: fc.option(time, { nil: null }),
  }),
  watermark: fc.bigInt({ min: 90n, max: 260n }),
  above: fc.bigInt({ min: 0n, max: 260n }),
})

interface Asked {
  bounds: TimeBounds
  watermark: bigint
  above: bigint
}

t.test('a segment says as a whole what is true of each of its documents', async () => {
  fc.assert(
    fc.property(articles, questions, fc.boolean(), (all, asked, every) => {
      const segment = segmentOf(all)
      const sorted = all.toSorted(documentOrder)
      const own = decodeColumns(
        encodeColumns(columnsOf(sorted, segment.first, new Uint8Array(3), 1)),
      )
      const chosen = sorted.map((_, doc) => doc).filter(doc => every || doc % 3 === 0)
      const set = every
        ? rangeSet(0, own.size, own.size)
        : arraySet(Uint16Array.from(chosen), own.size)
      assert.deepEqual(
        Array.from(docsOf(applyFilter(set, segment, own, asked))),
        chosen.filter(doc => isAllowed(sorted[doc]!, asked)),
      )
    }),
    { numRuns: 3_000 },
  )
})

function isAllowed(article: SegmentArticle, { bounds, watermark, above }: Asked): boolean {
  const { published, ingested, seq } = article
  const within = (at: number, { from, to }: { from: number; to: number }) => at >= from && at < to
  const since = bounds.undatedSince
  const inTime =
    published === null
      ? since !== null && ingested !== null && ingested >= since
      : within(published, bounds.published)
  return (
    inTime &&
    (bounds.ingested === null || (ingested !== null && within(ingested, bounds.ingested))) &&
    (bounds.within === null ||
      published === null ||
      ingested === null ||
      published >= ingested - bounds.within) &&
    seq <= watermark &&
    seq > above
  )
}

function segmentOf(all: SegmentArticle[]): SegmentMeta {
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

t.test(
  'a conjunction asks for the lists of a phrase where its other clauses leave documents',
  async t => {
    const phrase: QueryNode = { kind: 'phrase', words: ['x', 'y'], scope: 'title_body' }
    const evaluate = compile(and([phrase, or([term('a'), term('b')])]))
    const cases: [what: string, known: Record<string, number[]>, needsPhrase: boolean][] = [
      ['none is left', { a: [], b: [] }, false],
      ['some are left', { a: [1], b: [] }, true],
      ['not known yet', {}, true],
    ]
    for (const [what, known, needsPhrase] of cases) {
      const asked: string[] = []
      evaluate(
        list => {
          asked.push(list)
          return known[list] === undefined ? null : arraySet(Uint16Array.from(known[list]), 100)
        },
        100,
        null,
      )
      t.equal(asked.includes('Wx\ny'), needsPhrase, what)
    }
  },
)

t.test('columns tell the rule of their segment; those of a former version tell none', async t => {
  const now = encodeColumns(columnsOf([], 1n, new Uint8Array(3), 1))
  t.equal(decodeColumns(now).rule, 1)
  t.equal(decodeColumns(now.subarray(0, -1)).rule, 0)
})

t.test(
  'the first of some documents that stand in another order are found, and no others but equal ones',
  async () => {
    const size = 1_500
    const segment = segmentOf([
      { seq: 1n, id: 'x', published: 0, ingested: 0, publisherNo: 1, authorNos: [], section: null },
    ])
    const value = fc.oneof(
      fc.integer({ min: 0, max: 40 }),
      fc.integer({ min: 0, max: 9_999 }),
      fc.constant(Number.NaN),
    )
    const asked = fc.record({
      // Most values grow with the document, like times of ingestion.
      ingested: fc
        .array(value, { minLength: size, maxLength: size })
        .map(all => all.map((one, doc) => one + doc * 7)),
      docs: fc.uniqueArray(fc.integer({ min: 0, max: size - 1 }), { maxLength: size }),
      dense: fc.boolean(),
      grain: fc.constantFrom(1, 1_000),
      dated: fc.constantFrom(null, size),
      order: fc.constantFrom('asc' as const, 'desc' as const),
      after: fc.option(fc.option(fc.integer({ min: 0, max: 9_000 }), { nil: null }), {
        nil: undefined,
      }),
      wanted: fc.integer({ min: 1, max: 30 }),
    })
    fc.assert(
      fc.property(asked, ({ ingested, docs, dense, grain, dated, order, after, wanted }) => {
        const some = arraySet(Uint16Array.from(docs).sort(), size)
        const matches = dense ? union([some, rangeSet(0, size / 2, size)], size) : some
        const position =
          after === undefined
            ? null
            : {
                watermark: 0n,
                total: 0,
                estimate: false,
                last: { value: after, score: 0, id: 'x' },
              }
        const top = createTopCollector({
          sort: 'ingested_at',
          order,
          position,
          wanted,
          scored: false,
        })
        const values = Float64Array.from(ingested, one => Math.floor(one / grain) * grain)
        const address = (doc: number) => ({ kind: 'stored' as const, segment, doc })
        if (matches.count > 0)
          top.collect(matches, {
            published: values,
            ingested: values,
            dated,
            startsAt: null,
            offsets: null,
            idOf: () => null,
            values: {
              publisherNo: doc => doc,
              eachAuthor() {},
              sectionNo: () => 0,
              sections: [''],
            },
            list: () => matches,
            seqOf: BigInt,
            addressOf: address,
          })
        const keyOf = (one: number | null) =>
          one === null || Number.isNaN(one) ? Infinity : order === 'asc' ? one : -one
        const from = after === undefined ? -Infinity : keyOf(after)
        const keys = Array.from(docsOf(matches), doc => keyOf(values[doc]!)).filter(
          key => key >= from,
        )
        const limit = keys.filter(key => key > from).sort((a, b) => a - b)[wanted - 1] ?? Infinity
        const found = top.hits().map(hit => keyOf(hit.value))
        assert.deepEqual(found.sort(), keys.filter(key => key <= limit).sort())
      }),
      { numRuns: 200 },
    )
  },
)
