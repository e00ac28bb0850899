import t from 'tap'
import { indexText } from '#search/analysis/index'
import { createKnownWords, makeSegments, openIndexer } from '#search/indexer'
import { SEGMENT_THREAD } from '#shared/postgres/segment-thread'
import { type ArchiveIndex, FEW, openFlushed } from './archive-index.ts'

/** All that is stored of segments. */
const stored = (index: ArchiveIndex) =>
  index.database.query(
    `select first_seq, last_seq, bucket_bits, columns, array_agg(block order by bucket) as blocks
     from segments join segment_buckets using (segment_no) group by segment_no order by first_seq`,
  )

/** The same segment, from the words that are stored. */
async function storedAnew(index: ArchiveIndex) {
  await index.database.query('delete from segments')
  await index.database.query('delete from segment_buckets')
  await makeSegments(index.pool, FEW)
  return stored(index)
}

t.test('a merge reads the words of a segment that was stored anew meanwhile', async t => {
  const knownWords = createKnownWords()
  const index = await openFlushed(t, 22, { knownWords })
  const { rebuild } = openIndexer(index.pool, SEGMENT_THREAD)
  const [, second] = await rebuild.ranges()
  await index.database.query("update article_texts set title = 'Voorheen onbekend'")
  await rebuild.segment(second!, {
    tokeniser: {
      atOnce: 1,
      tokenise: async texts => texts.map(one => indexText(one.title, one.body)),
    },
    chosen: new Set(Array.from({ length: 16 }, (_, at) => second!.first + BigInt(at))),
    worked: async () => {},
    within: async () => {},
    signal: AbortSignal.timeout(60_000),
  })
  await makeSegments(index.pool, FEW, { kinds: ['merge'], knownWords })
  const merged = await stored(index)
  t.equal(merged.length, 1)
  t.same(merged, await storedAnew(index))
})

t.test(
  'a merge reads the stored words if those that are kept have several vocabularies',
  async t => {
    const knownWords = createKnownWords(0)
    const index = await openFlushed(t, 22, { knownWords })
    await makeSegments(index.pool, FEW, { kinds: ['merge'], knownWords })
    const merged = await stored(index)
    t.equal(merged.length, 1)
    t.same(merged, await storedAnew(index))
    t.equal(knownWords.vocabulary.names.length, 0)
  },
)

t.test(
  'the words of a segment are not those of another one that got its number from a new primary',
  async t => {
    const knownWords = createKnownWords()
    const index = await openFlushed(t, 22, { knownWords })
    const { rows: segments } = await index.pool.query<{
      no: number
      first: bigint
      digest: Buffer
      isClear: boolean
    }>(
      'select segment_no as no, first_seq as first, digest, true as "isClear" from segments order by first_seq',
    )
    t.equal(segments.length, 4)
    const others = segments.map((segment, at) => ({
      ...segment,
      digest: segments.at(at - 1)!.digest,
    }))
    t.equal(knownWords.take(others), null)
    t.equal(knownWords.take(segments.map(segment => ({ ...segment, digest: null }))), null)
    t.equal(knownWords.take(segments)?.length, 4)
  },
)
