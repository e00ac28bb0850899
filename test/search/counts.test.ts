import t from 'tap'
import {
  type Breakdown,
  MOST_OUTLETS,
  type SearchIndex,
  type TextGroups,
  TooManyBuckets,
  timeZoneNamed,
} from '#search/index'
import type { NewArticle } from '#search/types'
import { LANGUAGES } from '#shared/articles/article'
import { createRandom, type Random } from '#test/faults/random'
import { isWhole } from '#test/script'
import { openArchiveIndex } from './archive-index.ts'
import { queryOf } from './comparison.ts'
import { type NaiveBreakdown, naiveCounts } from './naive-counts.ts'
import { answer, type Known, type Question, type ResultSet } from './oracle.ts'
import { EVERYTHING } from './poller.ts'
import { randomQuestion } from './questions.ts'
import { randomArticles } from './random-articles.ts'
import { makeTestSegments } from './store.ts'

/** A multiple of four. */
const QUESTIONS = Number(process.env.QUESTIONS ?? (isWhole ? 600 : 60))
const TIMES = ['hour', 'day', 'week', 'month'] as const
const ZONES = [
  'UTC',
  'Europe/Brussels',
  'America/New_York',
  'Asia/Kolkata',
  'Australia/Lord_Howe',
  'Asia/Beirut',
]

/** Times around changes of clocks, on the borders of buckets and beside them. */
function withBorders(random: Random, articles: NewArticle[]): NewArticle[] {
  const borders = [
    '2024-03-31T00:59:59.999Z',
    '2024-03-31T01:00:00.000Z',
    '2024-10-27T00:30:00.000Z',
    '2024-10-27T01:30:00.000Z',
    '2024-10-26T22:00:00.000Z',
    '2024-12-29T23:00:00.000Z',
    '2024-12-30T00:00:00.000Z',
    '2025-01-01T00:00:00.000Z',
    '2024-03-30T22:00:00.000Z',
  ]
  return articles.map(article =>
    article.publishedAt !== null && random.chance(0.4)
      ? { ...article, publishedAt: new Date(random.pick(borders)) }
      : article,
  )
}

const breakdownOf = (by: NaiveBreakdown, timeZone: string): Breakdown =>
  by === 'outlet' || by === 'language' || by === 'country'
    ? { by }
    : { by, zone: timeZoneNamed(timeZone)! }

/** Half of the articles have the text of some others. */
function randomTexts(random: Random, articles: Known[]): TextGroups {
  const members = articles
    .filter(() => random.chance(0.5))
    .toSorted((a, b) => Number(a.seq - b.seq))
  const groups = Uint32Array.from(members, () => random.below(60))
  return { seqs: Float64Array.from(members, ({ seq }) => Number(seq)), groups, count: 60 }
}

/** The articles of which no earlier one of the same text is there. */
function eachTextOnce(articles: Known[], { seqs, groups }: TextGroups): Known[] {
  const seen = new Set<number | Known>()
  return articles
    .toSorted((a, b) => Number(a.seq - b.seq))
    .filter(one => seen.size < seen.add(groups[seqs.indexOf(Number(one.seq))] ?? one).size)
}

/** Says where the index and the naive count differ; null: they agree. */
async function difference(
  index: SearchIndex,
  articles: Known[],
  question: Question,
  by: NaiveBreakdown,
  timeZone: string,
  texts: TextGroups | null,
  found: ResultSet | null,
): Promise<string | null> {
  const query = queryOf(question)
  if (found === null || query === null) return null
  const ids = new Set(found.ids)
  const all = articles.filter(article => ids.has(article.id))
  const matches = texts === null ? all : eachTextOnce(all, texts)
  const axis = question.sort === 'published_at' ? 'publishedAt' : 'ingestedAt'
  const expected = naiveCounts(matches, by, axis, timeZone)
  const counted = texts === null ? undefined : { groups: texts, lowest: null }
  const counts = await index
    .countBy(query, breakdownOf(by, timeZone), undefined, counted)
    .catch((error: unknown) => {
      if (error instanceof TooManyBuckets) return null
      throw error
    })
  if (counts === null) return by === 'hour' || by === 'day' ? null : `too many buckets by ${by}`
  const told = new Map(
    counts.data
      .filter(one => one.count > 0)
      .map(one => [
        one.outlet
          ? JSON.stringify([one.outlet.name, one.outlet.domain])
          : by === 'section'
            ? one.key.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()
            : one.key,
        one.count,
      ]),
  )
  const sorted = (map: Map<string, number>) =>
    JSON.stringify([...map].toSorted(([a], [b]) => (a < b ? -1 : 1)))
  if (sorted(told) !== sorted(expected.counts))
    return `${sorted(told)} instead of ${sorted(expected.counts)}`
  const without = counts.undated + counts.unsaid
  if (without !== expected.undated) return `${without} without instead of ${expected.undated}`
  if (counts.total !== matches.length) return `${counts.total} in all instead of ${matches.length}`
  if (counted !== undefined) {
    const seqs = all.map(({ seq }) => seq)
    const among = await index.countAmong(
      seqs,
      query,
      { by: 'country' },
      { groups: texts!, lowest: null },
    )
    if (among.total !== matches.length) return `${among.total} texts among ${seqs.length}`
    const parts = await Promise.all(
      LANGUAGES.map(language =>
        all.some(one => one.language === language)
          ? index.countBy(
              { ...query, languages: [language] },
              { by: 'country' },
              undefined,
              counted,
            )
          : { total: 0 },
      ),
    )
    const sum = parts.reduce((of, { total }) => of + total, 0)
    if (sum !== matches.length) return `${sum} in all languages instead of ${matches.length}`
  }
  if (new Set(counts.data.map(one => one.key)).size < counts.data.length && by !== 'outlet')
    return 'a key comes twice'
  return null
}

t.test(
  'counts of random searches are those of a naive count, in memory and in segments',
  async t => {
    const random = createRandom(Number(process.env.SEED ?? 7))
    const index = await openArchiveIndex(t)
    const known = await index.add(withBorders(random, randomArticles(random, 300)))
    const differences: string[] = []
    let counted = 0
    for (let number = 0; number < QUESTIONS; number++) {
      if (number === QUESTIONS / 4)
        await makeTestSegments(index.pool, { flushed: 16n, merged: 64n })
      if (number === QUESTIONS / 2)
        await makeTestSegments(index.pool, { flushed: 64n, merged: 256n })
      const asked = randomQuestion(random, known)
      const by = random.pick([...TIMES, 'outlet', 'language', 'country', ...SAID] as const)
      // A year of days and a hundred days of hours are few enough.
      const narrow = by === 'hour' || by === 'day' ? narrowed(random, asked) : asked
      const zone = random.pick(ZONES)
      const texts = number % 2 === 0 ? randomTexts(random, known) : null
      const found = answer(known, narrow)
      const differs = await difference(index.search, known, narrow, by, zone, texts, found)
      if (differs !== null)
        differences.push(
          `question ${number} by ${by} in ${zone}: ${differs}\n${JSON.stringify(narrow)}`,
        )
      counted += found?.ids.length ?? 0
    }
    t.same(differences.slice(0, 3), [])
    t.ok(counted > 8 * QUESTIONS, `${counted} articles counted`)
  },
)

const SAID = ['section', 'kind', 'access'] as const

function narrowed(random: Random, question: Question): Question {
  const from = new Date(
    random.pick(['2024-03-01T00:00:00Z', '2024-09-30T12:34:56Z', '2024-12-01T00:00:00Z']),
  )
  const reach = {
    historyStart: new Date('1990-01-01T00:00:00Z'),
    publishedAfter: from,
    publishedBefore: new Date(from.getTime() + 100 * 86_400_000 - 1),
  }
  return { ...question, reach, sort: 'published_at' }
}

t.test('outlets beyond the first twenty are counted together', async t => {
  const index = await openArchiveIndex(t)
  const random = createRandom(3)
  const articles = randomArticles(random, 400).map((article, number) => {
    const no = number % 30
    return {
      ...article,
      outlet: { name: `Krant ${no}`, domain: `${no}.example` },
      publishedAt: new Date('2024-01-01'),
    }
  })
  await index.add(articles)

  const { total, data, other } = await index.search.countBy(EVERYTHING, { by: 'outlet' })
  t.equal(data.length, MOST_OUTLETS)
  t.equal(total, 400)
  const sum = data.reduce((sum, one) => sum + one.count, other)
  t.equal(sum, 400)
  t.ok(other > 100, `${other} articles of other outlets`)
})
