import { setTimeout } from 'node:timers/promises'
import t from 'tap'
import { randomArticles } from '../../test/search/archive.ts'
import { type ArchiveIndex, openArchiveIndex } from '../../test/search/archive-index.ts'
import { EVERYTHING } from '../../test/search/poller.ts'
import { createRandom } from '../../test/search/random.ts'
import { defaultCacheSizes } from '../cache/cache.ts'
import { createSegmentCache, readSegmentAhead } from '../cache/segment-cache.ts'
import { makeSegments } from '../indexing/segments.ts'
import type { DocIdSet } from '../segment/doc-id-set.ts'
import { TERMS } from '../terms.ts'
import { openSegmentWriter } from './postgres-segment-writer.ts'
import { openSegmentStore } from './postgres-segments.ts'
import { openReads, type SegmentMeta, type SegmentStore } from './segment-store.ts'

t.setTimeout(280_000)

const SIZES = { flushed: 16n, merged: 64n }
const MB = 1 << 20
const [ASKED, OTHER] = [TERMS.language('nl'), TERMS.language('fr')]

/** An index with four flushed segments. */
async function openFlushed(seed: number): Promise<{ index: ArchiveIndex; store: SegmentStore }> {
  const index = await openArchiveIndex(null)
  const articles = randomArticles(createRandom(seed), 200)
  for (let added = 0, at = 0; added < 64; at++) {
    added += (await index.add(articles.slice(at, at + 1))).length
    if (added % 16 === 0) await makeSegments(index.pool, SIZES, { kinds: ['flush'] })
  }
  return { index, store: openSegmentStore(openReads(index.pool)) }
}

async function segmentAhead(store: SegmentStore): Promise<SegmentMeta> {
  for (;;) {
    const [ahead] = await store.readAhead()
    if (ahead !== undefined) return ahead
    await setTimeout(10)
  }
}

const docsOf = (set: DocIdSet | undefined) => set && { count: set.count, size: set.size }

t.test('of a large segment, the lists that searches used are read ahead, and stay for one version', async t => {
  const { index, store } = await openFlushed(41)
  t.teardown(() => index.close())
  const cache = createSegmentCache(store, defaultCacheSizes(2_000 * MB))
  const { version } = await store.readSnapshot()
  const { segments } = await store.readMeta(version)
  await cache.readLists(
    segments.map(segment => ({ segment, term: ASKED })),
    version,
  )
  const merging = makeSegments(index.pool, SIZES, { kinds: ['merge'], ahead: 1_000 })
  const ahead = await segmentAhead(store)
  await cache.readAhead([ahead], 0)
  await merging
  const merged = await store.readMeta((await store.readSnapshot()).version)
  t.same(
    merged.segments.map(segment => segment.no),
    [ahead.no],
  )
  cache.prefetch.follow(merged, 0)
  const [asked] = await createSegmentCache(store, defaultCacheSizes(2_000 * MB)).readLists(
    [{ segment: ahead, term: ASKED }],
    merged.version,
  )
  t.ok(asked!.count > 0)
  t.same(docsOf(cache.list(ahead, ASKED)), docsOf(asked))
  t.equal(cache.prefetch.list(ahead, OTHER), undefined, 'it has to be read')
  t.equal((await cache.columns([ahead], merged.version))[0]!.size, 64)
  t.ok(cache.prefetch.has(ahead))
  cache.prefetch.announce([])
  cache.prefetch.follow({ ...merged, version: merged.version + 1n }, 0)
  t.notOk(cache.prefetch.has(ahead))
})

t.test('a segment that goes while it is read is not taken for an empty one', async t => {
  const { index, store } = await openFlushed(42)
  t.teardown(() => index.close())
  const before = await index.search.count(EVERYTHING)
  const merging = makeSegments(index.pool, SIZES, { kinds: ['merge'], ahead: 2_000 })
  merging.catch(() => {})
  const ahead = await segmentAhead(store)
  const remove = async () => {
    await index.database.query('delete from segments_ahead')
    await openSegmentWriter(index.pool).removeUnused()
  }
  const slow: SegmentStore = {
    ...store,
    async readDictionary(segment, version) {
      await remove()
      return store.readDictionary(segment, version)
    },
  }
  t.equal(await readSegmentAhead(slow, ahead, 64, () => []), null)
  t.equal(await readSegmentAhead(store, ahead, 64, () => []), null)
  await t.rejects(merging, /removed a segment/)
  t.equal(await index.search.count(EVERYTHING), before)
  t.equal(await makeSegments(index.pool, SIZES, { ahead: 1 }), 1)
})

t.test('a segment is not used when another process has stored one of the same articles', async t => {
  const { index } = await openFlushed(43)
  t.teardown(() => index.close())
  const merging = makeSegments(index.pool, SIZES, { kinds: ['merge'], ahead: 1_500 })
  merging.catch(() => {})
  const store = openSegmentStore(openReads(index.pool))
  await segmentAhead(store)
  // A process of a version that does not hold the same lock.
  await index.database.query('update segments set segment_no = default where first_seq = 17')
  const before = await store.readMeta(0n)
  await t.rejects(merging, /another process stored segments/)
  t.same((await store.readMeta(0n)).segments, before.segments)
})
