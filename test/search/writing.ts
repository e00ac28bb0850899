import { setTimeout } from 'node:timers/promises'
import type { ArticleQuery, Position, SearchPage, SearchSizes } from '../../search/index.ts'
import { KINDS, makeSegments } from '../../search/indexer.ts'
import { createRandom } from '../faults/random.ts'
import { longArticles, randomArticles } from './archive.ts'
import { type ArchiveIndex, openArchiveIndex } from './archive-index.ts'
import { queryOf } from './comparison.ts'
import { readKnown } from './known.ts'
import { answer, type Known, type Question } from './oracle.ts'
import { EVERYTHING } from './poller.ts'
import { randomQuestion } from './questions.ts'
import { startWriters } from './writers.ts'

export interface Writing {
  differences: string[]
  questions: number
  found: number
  /** Articles at the beginning and at the end. */
  articles: [number, number]
  made: number
}

/**
 * Asks random questions while processes index and segments are made, and the oracle the same of
 * what was visible when each sequence began: so every question meets fresh articles, small and
 * large segments, and their change.
 */
export async function askWhileWriting(seed: number, questions: number): Promise<Writing> {
  const index = await openArchiveIndex(null)
  const random = createRandom(seed)
  const ofSegments = createRandom(seed + 1)
  let open = true
  let besides: Promise<unknown> = Promise.resolve()
  const failures: unknown[] = []
  try {
    // It reads segments ahead, those that come and those that are there.
    void index.search.warm(error => failures.push(error))
    await index.add([...longArticles(random), ...randomArticles(random, 150)])
    const known = await readKnown(index.pool, 0n)
    // The oracle reads the longest texts now: seconds in which no connection of this process would
    // be served.
    for (const searchIn of ['title', 'title_body'] as const) {
      answer(known, { ...EVERYTHING, q: 'fiets', search: 'keyword', searchIn })
    }
    const writing: Writing = { differences: [], questions: 0, found: 0, articles: [known.length, 0], made: 0 }
    const written = (async () => {
      while (open) await startWriters(index.database.url, 2, 2_000).done
    })()
    const indexing = (async () => {
      while (open) {
        // Sizes may grow, never shrink.
        const flushed = writing.questions < questions / 2 ? 8n : 32n
        const ahead = ofSegments.pick([0, 1, 50])
        const works = KINDS.map(kind =>
          makeSegments(index.pool, { flushed, merged: 8n * flushed }, { kinds: [kind], ahead }),
        )
        for (const made of await Promise.all(works)) writing.made += made
        await setTimeout(100)
      }
    })()
    besides = Promise.allSettled([written, indexing])
    while (writing.questions < questions) {
      const question = randomQuestion(random, known)
      const query = queryOf(question)
      if (query === null) continue
      const sizes = {
        cap: random.pick([5, 10_000]),
        memory: { segment: random.pick([1n, 8n, 4_096n]), words: random.pick([0, 500, 400_000]) },
        first: random.pick([1, 40, 32_768]),
        prefetch: random.pick([0, 100, 65_536]),
      }
      const asked = await pagesOf(index, query, sizes)
      known.push(...(await readKnown(index.pool, known.at(-1)?.seq ?? 0n)))
      writing.questions++
      writing.found += asked.ids.length
      if (!agrees(known, question, asked, sizes)) {
        writing.differences.push(JSON.stringify({ question, sizes, ...asked, between: asked.between.map(String) }))
      }
    }
    open = false
    await Promise.all([written, indexing])
    writing.articles[1] = known.length
    if (failures.length > 0) throw failures[0]
    return writing
  } finally {
    open = false
    await besides
    await index.close()
  }
}

interface Asked {
  ids: string[]
  totals: string[]
  /** The watermark of the sequence is one of these numbers. */
  between: [bigint, bigint]
}

async function pagesOf({ pool, search }: ArchiveIndex, query: ArticleQuery, sizes: SearchSizes): Promise<Asked> {
  const latest = async () =>
    (await pool.query<{ last_seq: bigint }>('select last_seq from ingest_clock')).rows[0]!.last_seq
  const before = await latest()
  const first = await search.search(query, null, sizes)
  const between: [bigint, bigint] = first.next ? [first.next.watermark, first.next.watermark] : [before, await latest()]
  const ids = first.rows.map(row => row.id)
  const totals = new Set([`${first.total}${first.estimate ? '+' : ''}`])
  // The rest of a long one shows nothing new: pages at random depth follow.
  for (let at: Position | null = first.next, pages = 0; at !== null && pages < 30; pages++) {
    const page: SearchPage = await search.search(query, at, sizes)
    ids.push(...page.rows.map(row => row.id))
    totals.add(`${page.total}${page.estimate ? '+' : ''}`)
    at = page.next
    if (at !== null && pages === 29) totals.add('unread')
  }
  return { ids, totals: [...totals], between }
}

/** Whether the oracle says the same for some watermark that it may have been. */
function agrees(known: Known[], question: Question, { ids, totals, between }: Asked, { cap }: SearchSizes): boolean {
  const unread = totals.includes('unread')
  const told = totals.filter(total => total !== 'unread').join()
  for (let watermark = between[0]; watermark <= between[1]; watermark++) {
    const visible = known.filter(article => article.seq <= watermark)
    const expected = answer(visible, question)?.ids ?? []
    const total = expected.length >= cap ? `${cap}+` : `${expected.length}`
    const due = unread ? expected.slice(0, ids.length) : expected
    if (told === total && due.join() === ids.join()) return true
  }
  return false
}
