import t from 'tap'
import { makeSegments } from '../../search/indexer.ts'
import type { NewArticle } from '../../search/indexing/article.ts'
import { openArchiveIndex } from './archive-index.ts'
import { allPages } from './comparison.ts'
import { EVERYTHING } from './poller.ts'

const ARTICLES = 10_050
/** So that a total near the cap is counted in several rounds. */
const SEGMENTS = { flushed: 1_024n, merged: 4_096n }
const SIZES = { cap: 10_000, memory: { segment: 8n, words: 500 }, first: 4_096, prefetch: 100 }

t.test('decision 25: totals count to 10,000, pages go on to the end', { timeout: 900_000 }, async t => {
  const index = await openArchiveIndex()
  t.teardown(() => index.close())
  await index.addMany(
    Array.from(
      { length: ARTICLES },
      (_, number): NewArticle => ({
        url: `https://cap.example/${number}`,
        addresses: [`cap.example/${number}`],
        title: number < 9_999 ? 'fiets veel' : 'fiets weinig',
        body: null,
        publishedAt: new Date(Date.UTC(2024, 0, 1) + number * 60_000),
        authors: [],
        outlet: { name: 'De Dagkoerier', domain: 'dagkoerier.example' },
        language: 'nl',
        country: 'NL',
      }),
    ),
  )
  for (const state of ['fresh', 'in segments']) {
    const all = await allPages(index.search, { ...EVERYTHING, perPage: 100 }, SIZES)
    t.same(all.totals, ['10000+'], state)
    t.equal(new Set(all.ids).size, ARTICLES)
    const below = await allPages(index.search, { ...EVERYTHING, match: { kind: 'keyword', words: ['veel'] } }, SIZES)
    t.same(below.totals, ['9999'], state)
    t.equal(below.ids.length, 9_999)
    await makeSegments(index.pool, SEGMENTS)
  }
})
