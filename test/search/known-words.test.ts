import t from 'tap'
import { indexText } from '../../search/analysis/index.ts'
import { createKnownWords, type KnownWords, makeSegments, openIndexer } from '../../search/indexer.ts'
import { randomArticles } from './archive.ts'
import { type ArchiveIndex, openArchiveIndex } from './archive-index.ts'
import { createRandom } from './random.ts'

t.setTimeout(280_000)

const SIZES = { flushed: 16n, merged: 64n }

/** An index with four flushed segments, whose words are kept. */
async function openFlushed(seed: number): Promise<{ index: ArchiveIndex; knownWords: KnownWords }> {
  const index = await openArchiveIndex(null)
  const knownWords = createKnownWords()
  const articles = randomArticles(createRandom(seed), 200)
  for (let added = 0, at = 0; added < 64; at++) {
    added += (await index.add(articles.slice(at, at + 1))).length
    if (added % 16 === 0) await makeSegments(index.pool, SIZES, { kinds: ['flush'], knownWords })
  }
  return { index, knownWords }
}

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
  await makeSegments(index.pool, SIZES)
  return stored(index)
}

t.test('a merge takes the words of its flushes from memory, and stores the same', async t => {
  const { index, knownWords } = await openFlushed(21)
  t.teardown(() => index.close())
  t.equal((await stored(index)).length, 4)
  await index.database.query('create table kept as select * from article_words')
  await index.database.query("update article_words set title = E'\\nx\\n', body = E'\\n'")
  await makeSegments(index.pool, SIZES, { kinds: ['merge'], knownWords })
  const merged = await stored(index)
  t.equal(merged.length, 1)
  await index.database.query(
    'update article_words w set title = k.title, body = k.body from kept k where k.seq = w.seq',
  )
  t.same(merged, await storedAnew(index))
})

t.test('a merge reads the words of a segment that was stored anew meanwhile', async t => {
  const { index, knownWords } = await openFlushed(22)
  t.teardown(() => index.close())
  const { rebuild } = openIndexer(index.pool)
  const [, second] = await rebuild.ranges()
  await index.database.query("update article_texts set title = 'Voorheen onbekend'")
  await rebuild.segment(second!, {
    tokeniser: { atOnce: 1, tokenise: async texts => texts.map(one => indexText(one.title, one.body)) },
    chosen: new Set(Array.from({ length: 16 }, (_, at) => second!.first + BigInt(at))),
    worked: async () => {},
    within: async () => {},
    signal: AbortSignal.timeout(60_000),
  })
  await makeSegments(index.pool, SIZES, { kinds: ['merge'], knownWords })
  const merged = await stored(index)
  t.equal(merged.length, 1)
  t.same(merged, await storedAnew(index))
})
