import { setTimeout } from 'node:timers/promises'
import type { ArticleQuery, SearchSizes } from '#search/index'
import { KINDS } from '#search/indexer'
import { repeatEvery } from '#shared/process/repeat'
import { createRandom } from '#test/faults/random'
import { type ArchiveIndex, openArchiveIndex } from './archive-index.ts'
import { inWords, queryOf, readPages } from './comparison.ts'
import { readKnown } from './known.ts'
import { answer, type Known, type Question } from './oracle.ts'
import { EVERYTHING } from './poller.ts'
import { randomQuestion, randomSizes } from './questions.ts'
import { longArticles, randomArticles } from './random-articles.ts'
import { makeTestSegments } from './store.ts'
import { startWriters } from './writers.ts'

/** An import may be quicker; the next attempt starts from what it has stored. */
export function unlessOvertaken(error: unknown): void {
  if (!/another process stored segments|removed a segment/.test(String(error))) throw error
}

export interface AskedWhileWriting {
  differences: string[]
  questions: number
  found: number
  articles: readonly [number, number]
  made: number
}

/**
 * Asks random questions while processes index and import and segments are made, and the oracle the
 * same of what was visible when each sequence began: so every question meets fresh articles, small
 * and large segments, and their change.
 *
 * @returns articles how many there were at the beginning and at the end; made how often segments
 *   changed
 */
export async function askWhileWriting(seed: number, questions: number): Promise<AskedWhileWriting> {
  const index = await openArchiveIndex(null)
  const random = createRandom(seed)
  const ofSegments = createRandom(seed + 1)
  let open = true
  let besides: Promise<unknown> = Promise.resolve()
  const failures: unknown[] = []
  try {
    // It reads segments ahead, those that come and those that are there.
    void index.search.warm(repeatEvery, error => failures.push(error))
    await index.add([...longArticles(random), ...randomArticles(random, 150)])
    const known = await readKnown(index.pool, 0n)
    // The oracle reads the longest texts now: seconds in which no connection of this process would
    // be served.
    for (const searchIn of ['title', 'title_body'] as const) {
      answer(known, { ...EVERYTHING, q: 'fiets', search: 'keyword', searchIn })
    }
    const differences: string[] = []
    const first = known.length
    let asked = 0
    let found = 0
    const written = (async () => {
      while (open) await startWriters(index.database.url, 4, 8_000, 4).done
    })()
    const make = (flushed: bigint, ahead: number) => async (kind: (typeof KINDS)[number]) => {
      const sizes = { flushed, merged: 8n * flushed }
      await makeTestSegments(index.pool, sizes, { kinds: [kind], ahead }).catch(unlessOvertaken)
    }
    const indexing = (async () => {
      while (open) {
        // Sizes may grow, never shrink.
        await Promise.all(
          KINDS.map(make(asked < questions / 2 ? 8n : 32n, ofSegments.pick([0, 1, 50]))),
        )
        await setTimeout(100)
      }
    })()
    const askAll = async () => {
      while (asked < questions) {
        const drawn = randomQuestion(random, known)
        const { search, sort, order } = drawn
        // A list of everything has so many pages that segments change meanwhile.
        const list = {
          ...EVERYTHING,
          q: null,
          search,
          sort,
          order,
          perPage: random.pick([1, 7, 50]),
        }
        const question = random.chance(0.4) ? drawn : list
        const query = queryOf(question)
        if (query === null) continue
        asked++
        const sizes = randomSizes(random)
        const pages = await pagesOf(index, query, sizes)
        const read = await readKnown(index.pool, known.at(-1)?.seq ?? 0n)
        known.push(...read.filter(({ seq }) => seq > (known.at(-1)?.seq ?? 0n)))
        found += pages.ids.length
        if (!agrees(known, question, pages, sizes))
          differences.push(inWords({ question, sizes, ...pages }))
      }
    }
    // Several at a time read the same fresh articles, and drop what others may still need.
    const asking = Promise.all([askAll(), askAll(), askAll()])
    besides = Promise.allSettled([asking, written, indexing])
    await asking
    open = false
    await Promise.all([written, indexing])
    if (failures.length > 0) throw failures[0]
    const [row] = await index.database.query('select version::int as made from segments_version')
    return {
      differences,
      questions,
      found,
      articles: [first, known.length] as const,
      made: Number(row?.made),
    }
  } finally {
    open = false
    await besides
    await index.close()
  }
}

/** Most pages that are read of a sequence. The rest of a long one shows nothing new. */
const MOST_PAGES = 31

/** All pages, and between which numbers the watermark of the sequence lies. */
async function pagesOf(
  { pool, search }: ArchiveIndex,
  query: ArticleQuery,
  sizes: SearchSizes,
): Promise<Pages> {
  const latest = async () =>
    (await pool.query<{ last_seq: bigint }>('select last_seq from ingest_clock')).rows[0]!.last_seq
  const before = await latest()
  const { watermark, ...pages } = await readPages(search.search, query, sizes, MOST_PAGES)
  return { ...pages, from: watermark ?? before, to: watermark ?? (await latest()) }
}

interface Pages {
  from: bigint
  to: bigint
  ids: string[]
  totals: string[]
  isWhole: boolean
}

/** Whether the oracle says the same for some watermark that it may have been. */
function agrees(known: Known[], question: Question, pages: Pages, { cap }: SearchSizes): boolean {
  const { ids, totals, isWhole, from, to } = pages
  for (let watermark = from; watermark <= to; watermark++) {
    const visible = known.filter(article => article.seq <= watermark)
    const expected = answer(visible, question)?.ids ?? []
    const total = expected.length >= cap ? `${cap}+` : `${expected.length}`
    const due = isWhole ? expected : expected.slice(0, ids.length)
    if (totals.join() === total && due.join() === ids.join()) return true
  }
  return false
}
