import { setTimeout } from 'node:timers/promises'
import t from 'tap'
import { openIndexer, SEGMENT_SIZES } from '#search/indexer'
import { SEGMENT_THREAD } from '#shared/postgres/segment-thread'
import { openArchiveIndex } from './archive-index.ts'
import { EVERYTHING } from './poller.ts'
import { shortArticles } from './short-articles.ts'

t.test(
  'a process that writes articles flushes them to segments, and merges these into a large one',
  async t => {
    const index = await openArchiveIndex(t)
    const { flushed, merged } = SEGMENT_SIZES
    const { ranges } = openIndexer(index.pool, SEGMENT_THREAD).rebuild
    let written = 0
    const write = async (count: number) => {
      for (const end = written + count; written < end; written += 512)
        await index.add(shortArticles(written, 512))
    }
    /** Waits for segments that hold all that was written, and returns their sizes. */
    const sizes = async (isThere: (sizes: bigint[]) => boolean): Promise<bigint[]> => {
      for (let waited = 0; ; waited += 50) {
        const live = await ranges()
        const found = live.map(({ first, last }) => last - first + 1n)
        if ((live.at(-1)?.last === BigInt(written) && isThere(found)) || waited > 60_000)
          return found
        await setTimeout(50)
      }
    }
    // One small one at a time: were all there at once, they would be made as one.
    for (let count = 1; count < Number(merged / flushed); count++) {
      await write(Number(flushed))
      t.same(await sizes(() => true), Array(count).fill(flushed))
    }
    await write(Number(flushed))
    t.same(await sizes(found => found.length === 1), [merged])
    const { rows, total, estimate } = await index.search.search(EVERYTHING)
    t.equal(rows[0]!.title, `Gemeente woord${written - 1}`)
    t.ok(total === 10_000 && estimate)
  },
)
