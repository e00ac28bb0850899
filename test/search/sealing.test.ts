import { setTimeout } from 'node:timers/promises'
import t from 'tap'
import { search } from '../../services/api/search/search.ts'
import type { NewArticle } from '../../shared/articles/article.ts'
import { SEGMENT_SIZES } from '../../shared/segments/planning.ts'
import { readRanges } from '../../shared/segments/sealing.ts'
import { openArchiveIndex } from './archive-index.ts'
import { EVERYTHING } from './poller.ts'

/** Short ones, so that thousands are soon there. */
const articles = (from: number, count: number): NewArticle[] =>
  Array.from({ length: count }, (_, at) => ({
    title: `Gemeente woord${from + at}`,
    body: null,
    url: `https://example.org/${from + at}`,
    addresses: [`https://example.org/${from + at}`],
    publishedAt: new Date(Date.parse('2026-03-01T12:00:00Z') + (from + at) * 1_000),
    authors: [],
    outlet: { name: 'Voorbeeld', domain: 'example.org' },
    country: 'NL',
    language: 'nl',
  }))

t.test('whoever writes articles makes segments of them beside it, small ones and then a large one', async t => {
  const index = await openArchiveIndex()
  t.teardown(() => index.close())
  const { minor, major } = SEGMENT_SIZES
  // Segments of the size in which articles came in; they may be replaced as soon as they are there.
  const seen = new Set<bigint>()
  const look = async () => {
    for (const { first, last } of await readRanges(index.pool)) seen.add(last - first + 1n)
  }
  let written = 0
  const write = async (count: number) => {
    for (const end = written + count; written < end; written += 512) {
      await index.add(articles(written, 512))
      await look()
    }
  }
  const until = async (isMade: () => boolean, what: string) => {
    for (let waited = 0; !isMade(); waited += 50) {
      if (waited > 30_000) return t.fail(`${what} was not made within 30 s`)
      await setTimeout(50)
      await look()
    }
    t.pass(what)
  }
  // One small one at a time: were all there at once, they would be made as one.
  for (let last = minor; last < major; last += minor) {
    await write(Number(minor))
    await until(() => seen.has(minor), 'a small segment')
    seen.clear()
  }
  await write(Number(minor))
  await until(() => seen.has(major), 'a large segment')
  const { rows, total, estimate } = await search(index.pool, EVERYTHING, null)
  t.equal(rows[0]!.title, `Gemeente woord${written - 1}`)
  t.ok(total === 10_000 && estimate)
})
