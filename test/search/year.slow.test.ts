import t from 'tap'
import { type SearchSizes, TOTAL_CAP } from '../../search/index.ts'
import type { NewArticle } from '../../search/indexing/article.ts'
import { PARTITION_SIZE } from '../../search/indexing/writer.ts'
import { openArchiveIndex } from './archive-index.ts'
import { difference } from './comparison.ts'
import type { Question } from './oracle.ts'
import { EVERYTHING } from './poller.ts'
import { newArticle } from './short-articles.ts'

t.setTimeout(280_000)

/**
 * What counts in each case: the last moments of a year, the first of the next, none, and one long
 * ago.
 */
const TIMES = [
  '2025-12-31T22:59:59.999Z',
  '2025-12-31T23:00:00Z',
  '2025-12-31T23:59:59.999Z',
  '2026-01-01T00:00:00Z',
  '2026-01-01T00:00:00.001Z',
  null,
  '1848-06-01T12:00:00Z',
  '2024-02-29T23:59:59.999Z',
]

t.test('articles of any date are found over the turn of a year, while one partition gives way to the next', async t => {
  const index = await openArchiveIndex(t)
  // Three articles fit into the first partition; the next one is there before they come.
  await index.pool.query('update ingest_clock set last_seq = $1', [PARTITION_SIZE - 4n])
  const known = await index.add(TIMES.map(articleAt))
  const { rows } = await index.pool.query<{ name: string; articles: number }>(
    'select tableoid::regclass::text as name, count(*)::int as articles from articles group by 1 order by 1',
  )
  t.same(rows, [
    { name: 'articles_p0', articles: 3 },
    { name: 'articles_p1', articles: 5 },
  ])
  for (const question of questions()) {
    t.equal(await difference(index.search, known, question, SIZES), null, JSON.stringify(question))
  }
})

function articleAt(time: string | null, number: number): NewArticle {
  const at = time === null ? null : new Date(time)
  return newArticle(number, { title: `Gelukkig nieuwjaar ${number}`, publishedAt: at, ingestedAt: at })
}

const SIZES: SearchSizes = {
  cap: TOTAL_CAP,
  memory: { segment: 65_536n, words: 1_000 },
  first: 32_768,
  prefetch: 32_768,
}

/** Both axes and directions, with every bound: from each time on, and before each time. */
function questions(): Question[] {
  const bounds = TIMES.flatMap(time => (time === null ? [] : [new Date(time)]))
  const historyStart = new Date('1800-01-01T00:00:00Z')
  const coverages: Question['coverage'][] = [
    { historyStart, publishedAfter: null, publishedBefore: null },
    ...bounds.map(at => ({ historyStart, publishedAfter: at, publishedBefore: null })),
    ...bounds.map(at => ({ historyStart, publishedAfter: null, publishedBefore: { at, exclusive: true } })),
  ]
  return (['published_at', 'ingested_at'] as const).flatMap(sort =>
    (['asc', 'desc'] as const).flatMap(order =>
      coverages.map(
        (coverage): Question => ({
          ...EVERYTHING,
          q: 'nieuwjaar',
          search: 'boolean',
          coverage,
          sort,
          order,
          perPage: 2,
        }),
      ),
    ),
  )
}
