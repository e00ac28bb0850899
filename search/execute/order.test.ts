import t from 'tap'
import { createRandom } from '../../test/faults/random.ts'
import { arraySet, bitmapSet } from '../segment/doc-id-set.ts'
import { createTopCollector, firstInOrder } from './order.ts'

interface Doc {
  seq: bigint
  id: string
  published: number
  ingested: number
  score: number
}

const META = {
  no: 1,
  first: 1n,
  last: 1n,
  bucketBits: 0,
  published: null,
  ingested: null,
  undated: 0,
}

const { below, chance, pick } = createRandom(20_261_127)
const time = (spread: number) => (chance(0.1) ? Number.NaN : below(spread))

t.test(
  'a page holds the first articles after the page before, however segments hold them',
  async t => {
    for (let round = 0; round < 300; round++) {
      const order = pick(['asc', 'desc'] as const)
      const sort = pick(['published_at', 'ingested_at'] as const)
      const spread = pick([3, 60, 5_000])
      const wanted = 1 + below(20)
      const scored = chance(0.5)
      const sign = order === 'asc' ? 1 : -1
      const keyOf = (doc: Doc) => (sort === 'published_at' ? doc.published : doc.ingested)
      const found: Doc[] = []
      const segments = Array.from({ length: 1 + below(3) }, () => {
        const isDated = chance(0.6)
        const docs = Array.from({ length: pick([5, 60, 700]) }, (): Doc => {
          const seq =
            BigInt(found.length * 1_000 + below(1_000)) * 1_000_003n + BigInt(below(1_000_000))
          return {
            seq,
            id: `${seq}`.slice(-9),
            published: time(spread),
            ingested: time(spread),
            score: scored ? below(3) : 0,
          }
        })
        const place = ({ published }: Doc) => (Number.isNaN(published) ? 9e9 : published)
        if (isDated) docs.sort((a, b) => place(a) - place(b) || (a.id < b.id ? -1 : 1))
        const share = pick([0.1, 0.5, 1])
        const matches = [...docs.keys()].filter(doc => doc === 0 || chance(share))
        found.push(...matches.map(doc => docs[doc]!))
        const bits = new Uint32Array(Math.ceil(docs.length / 32))
        for (const doc of matches) bits[doc >>> 5] = bits[doc >>> 5]! | (1 << (doc & 31))
        const keys = matches.map(doc => keyOf(docs[doc]!)).filter(key => !Number.isNaN(key))
        const startsAt = sign * Math.min(...keys.map(key => sign * key))
        const known = chance(0.5)
        const segment = {
          startsAt: isDated && sort === 'published_at' ? startsAt : null,
          dated: isDated ? docs.filter(({ published }) => !Number.isNaN(published)).length : null,
          published: Float64Array.from(docs, doc => doc.published),
          ingested: Float64Array.from(docs, doc => doc.ingested),
          seqOf: (doc: number) => docs[doc]!.seq,
          idOf: (doc: number) => (known ? docs[doc]!.id : null),
          offsets: null,
          values: {
            publisherNo: (doc: number) => doc,
            eachAuthor() {},
            sectionNo: () => 0,
            sections: [''],
          },
          addressOf: (doc: number) => ({ kind: 'stored' as const, segment: META, doc }),
        }
        return {
          segment,
          set: chance(0.5)
            ? bitmapSet(bits, docs.length)
            : arraySet(Uint16Array.from(matches), docs.length),
        }
      })
      segments.sort(
        (a, b) =>
          sign * ((a.segment.startsAt ?? -sign * 9e9) - (b.segment.startsAt ?? -sign * 9e9)) || 0,
      )

      const rows = found.map(doc => ({
        ...doc,
        value: Number.isNaN(keyOf(doc)) ? null : keyOf(doc),
      }))
      const compare = (
        a: Omit<(typeof rows)[0], keyof Doc> & Pick<Doc, 'score' | 'id'>,
        b: typeof a,
      ) =>
        Number(a.value === null) - Number(b.value === null) ||
        sign * ((a.value ?? 0) - (b.value ?? 0)) ||
        b.score - a.score ||
        sign * (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)
      const last = chance(0.3) ? null : pick(rows)
      const position = last && { watermark: 0n, total: 0, estimate: false, last }
      const expected = rows.toSorted(compare).filter(row => last === null || compare(row, last) > 0)

      const collector = createTopCollector({ sort, order, position, wanted, scored })
      for (const { segment, set } of segments) {
        if (segment.startsAt !== null && collector.isComplete(segment.startsAt)) break
        collector.collect(set, { ...segment, list: () => set })
      }
      const of = new Map(rows.map(row => [row.seq, row]))
      const page = await firstInOrder(collector.hits(), wanted, { order }, position, {
        readIds: async hits => {
          for (const hit of hits) hit.id ??= of.get(hit.seq)!.id
        },
        readScores: async hits => {
          for (const hit of hits) hit.score ??= of.get(hit.seq)!.score
        },
      })
      const seqs = (list: { seq: bigint }[]) => list.map(({ seq }) => seq).join()
      if (seqs(page) !== seqs(expected.slice(0, wanted)))
        return t.equal(seqs(page), seqs(expected.slice(0, wanted)), `round ${round}`)
    }
    t.pass('300 rounds')
  },
)
