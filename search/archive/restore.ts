import type { Pool } from '../../shared/postgres/pool.ts'
import { createSegmentBuilder } from '../segment/builder.ts'
import type { ArchiveStore } from '../store/archive-store.ts'
import { openReads } from '../store/index-reads.ts'
import { openSegmentWriter } from '../store/open.ts'
import { postgresArticles } from '../store/postgres-articles.ts'

/**
 * Makes released segments anew from the words of their articles, the newest first, so that segments
 * have no gap meanwhile. Searches use the archive until the segments are there.
 *
 * @param size of the segments
 * @param worked told of articles that have a segment again
 * @returns false: it was interrupted; the next call goes on
 */
export async function restoreSegments(
  pool: Pool,
  store: ArchiveStore,
  size: bigint,
  worked: (articles: number) => Promise<void>,
  signal: AbortSignal,
): Promise<boolean> {
  const writer = openSegmentWriter(pool)
  const source = postgresArticles(openReads(pool))
  for (;;) {
    const last = await store.readReleasedTo()
    if (last === 0n) return true
    if (signal.aborted) return false
    const range = { first: ((last - 1n) / size) * size + 1n, last }
    await writer.exclusively('merge', true, async () => {
      const articles = await source.readSources(range)
      const builder = createSegmentBuilder(articles, range.first)
      for await (const { seq, title, body } of source.readWords(range)) builder.addWords(seq, title, body)
      await writer.replace(
        { range, articles, built: builder.build() },
        { within: client => store.restored(client, range.first - 1n) },
      )
    })
    await worked(Number(range.last - range.first) + 1)
  }
}
