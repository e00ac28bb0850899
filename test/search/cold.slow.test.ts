import t, { type Test } from 'tap'
import { type ArticleQuery, openIndex, parseBoolean, parseKeyword } from '#search/index'
import { makeSegments } from '#search/indexer'
import type { NewArticle, ParsedQuery } from '#search/types'
import { repeatEvery } from '#shared/process/repeat'
import { openArchiveIndex } from './archive-index.ts'
import { overheard } from './overheard.ts'
import { EVERYTHING } from './poller.ts'
import { newArticle } from './short-articles.ts'

const READING = 'search-buckets'
const SEGMENTS = 8
const SIZE = 16
const COMMON = Array.from(
  { length: 30 },
  (_, at) => `alg${String.fromCharCode(97 + (at % 26))}${at}`,
)

/** Every article has every common word, in an order of its own. */
const ARTICLES: NewArticle[] = Array.from({ length: SEGMENTS * SIZE }, (_, at) =>
  newArticle(at, {
    title: `Gemeente ${COMMON[at % COMMON.length]}`,
    body: [...COMMON.slice(at % COMMON.length), ...COMMON.slice(0, at % COMMON.length)].join(' '),
  }),
)
/** Greek and Cyrillic letters: words of one letter, which no article has. */
const LETTERS = [...'αβγδεζηθικλμνξοπρστυφχψωабвгдежзиклмнопрстуфхцчшщыэюя']

function asked(parsed: ParsedQuery): ArticleQuery {
  if (!parsed.ok) throw new Error(parsed.errors.join(' '))
  return { ...EVERYTHING, searchIn: 'title_body', match: parsed.match }
}

async function openSegments(t: Test) {
  const index = await openArchiveIndex(t)
  await index.add(ARTICLES)
  await makeSegments(index.pool, { flushed: BigInt(SIZE), merged: BigInt(SIZE * SEGMENTS * 2) })
  return index
}

/** An index with nothing in memory but columns, and the names of its statements from now on. */
async function openCold(t: Test, pool: Parameters<typeof overheard>[0]) {
  const { db, names } = overheard(pool)
  const index = openIndex(db)
  t.teardown(() => index.close())
  const search = (query: ArticleQuery, sizes = {}) =>
    index.search(query, null, { prefetch: 0, ...sizes })
  await search(EVERYTHING)
  names.length = 0
  const reads = (of = READING) => names.splice(0).filter(name => name.startsWith(of)).length
  return { search, reads }
}

t.test('words that no segment has are looked up in memory', async t => {
  const { pool } = await openSegments(t)
  const { search, reads } = await openCold(t, pool)
  for (const q of [LETTERS.join(' '), LETTERS.slice(0, 3).join(' ')]) {
    t.equal((await search(asked(parseKeyword(q)))).total, 0)
    t.equal((await search(asked(parseBoolean(q)))).total, 0)
  }
  // Some answers of a filter are wrong: then one statement reads what it did not deny.
  t.ok(reads() <= 4)
  t.equal(
    (await search(asked(parseBoolean(`gemeente ${LETTERS.map(one => `-${one}`).join(' ')}`))))
      .total,
    128,
  )
  t.ok(reads() <= 2)
})

t.test('the lists of a long query are read in few statements', async t => {
  const { pool } = await openSegments(t)
  const queries: [q: string, total: number, most: number][] = [
    [COMMON.join(' '), 128, 2],
    [`gemeente -${COMMON.join(' -')}`, 0, 2],
    [`"${COMMON.join(' ')}"`, 5, 3],
    [`"${COMMON.toReversed().join(' ')}"`, 0, 3],
  ]
  for (const [q, total, most] of queries) {
    const { search, reads } = await openCold(t, pool)
    t.equal((await search(asked(parseBoolean(q)))).total, total, q)
    const count = reads()
    t.ok(count <= most, `${count} statements for ${SEGMENTS} segments: ${q}`)
  }
  const { search, reads } = await openCold(t, pool)
  t.equal((await search(asked(parseKeyword(COMMON.join(' '))))).total, 128)
  t.ok(reads() <= 2)
})

t.test(
  'the words of many segments are read in one statement, unless a page needs fewer',
  async t => {
    const { pool } = await openSegments(t)
    const { search, reads } = await openCold(t, pool)
    const phrase = asked(parseBoolean(`"${COMMON.slice(3, 8).join(' ')}"`))
    const { total } = await search(phrase, { first: SIZE })
    t.ok(total > 80 && total < 128, `${total} found`)
    t.equal(reads('search-verify-'), 1)
    t.equal((await search(phrase, { first: SIZE, cap: 1 })).total, 1)
    t.equal(reads('search-verify-'), 0, 'the cache knows them')
    const other = asked(parseBoolean(`"${COMMON.slice(9, 14).join(' ')}"`))
    t.equal((await search({ ...other, perPage: 1 }, { first: SIZE, cap: 1 })).total, 1)
    t.equal(reads('search-verify-'), 1)
    t.ok((await search({ ...other, perPage: 50 }, { first: SIZE })).total > 80)
    t.ok(reads('search-verify-') > 0, 'the first page left some unread')
  },
)

t.test('a warm-up ends, and may be closed at any moment', async t => {
  const { pool } = await openSegments(t)
  for (const [statements, gently] of [0, 1, 3, 8, 40, Infinity].flatMap(one => [
    [one, false] as const,
    [one, true] as const,
  ])) {
    const { db, names } = overheard(pool)
    const index = openIndex(db)
    const failures: unknown[] = []
    const warm = index.warm(repeatEvery, error => failures.push(error), gently)
    if (statements === Infinity) await warm
    else while (names.length < statements) await new Promise(resolve => setImmediate(resolve))
    await index.close()
    await warm
    const asked = names.length
    await new Promise(resolve => setTimeout(resolve, 50))
    t.same(failures, [])
    t.equal(names.length, asked, `nothing is read after the end (${statements})`)
  }
})
