import {
  type ArticleQuery,
  type Match,
  type Position,
  parseBoolean,
  parseExpression,
  parseKeyword,
  type SearchIndex,
  type SearchPage,
  type SearchSizes,
  StatedElsewhere,
  WildcardsElsewhere,
} from '#search/index'
import type { Random } from '#test/faults/random'
import { answer, type Known, type Question, type ResultSet } from './oracle.ts'
import { randomQuestion } from './questions.ts'

const PARSERS = { keyword: parseKeyword, boolean: parseBoolean, expression: parseExpression }

/** The query that a question is, or null when its `q` is refused. */
export function queryOf({ q, search: mode, tree: _tree, ...rest }: Question): ArticleQuery | null {
  if (q === null) return { ...rest, match: { kind: 'all' } }
  const parsed = PARSERS[mode](q)
  return parsed.ok ? { ...rest, match: parsed.match satisfies Match } : null
}

export interface ReadPages {
  ids: string[]
  totals: string[]
  watermark: bigint | null
  isWhole: boolean
}

/**
 * Reads the pages of a sequence.
 *
 * @param most pages that are read
 * @returns ids in their order; totals that the pages told; watermark null: one page held all
 */
export async function readPages(
  search: SearchIndex['search'],
  query: ArticleQuery,
  sizes: SearchSizes,
  most: number = Infinity,
): Promise<ReadPages> {
  const ids: string[] = []
  const totals = new Set<string>()
  let pages = 0
  let watermark: bigint | null = null
  let position: Position | null = null
  do {
    const page: SearchPage = await search(query, position, sizes)
    if (pages > 0 && page.rows.length === 0) throw new Error('a page after the first is empty')
    if (page.next !== null && page.rows.length !== query.perPage)
      throw new Error('a page in the middle is not full')
    ids.push(...page.rows.map(row => row.id))
    totals.add(`${page.total}${page.estimate ? '+' : ''}`)
    position = page.next
    watermark = position?.watermark ?? watermark
    pages++
  } while (position !== null && pages < most)
  return { ids, totals: [...totals], watermark, isWhole: position === null }
}

/**
 * Asks both and says in words where they differ; null when they agree.
 *
 * @param expected what the oracle answers
 */
export async function difference(
  index: SearchIndex,
  articles: Known[],
  question: Question,
  sizes: SearchSizes,
  expected: ResultSet | null = answer(articles, question),
): Promise<string | null> {
  const query = queryOf(question)
  if (expected === null || query === null) {
    return (expected === null) === (query === null)
      ? null
      : `refused by one: ${expected === null ? 'the oracle' : 'the parser'}`
  }
  const found = await readPages(index.search, query, sizes).catch((error: unknown) => {
    // The archive knows no words, so it refuses parts of them, and nothing of what outlets state.
    const isRefused = error instanceof WildcardsElsewhere || error instanceof StatedElsewhere
    if (isRefused && index.stats().elsewhere > 0n) return null
    throw error
  })
  if (found === null) return null
  const total = expected.ids.length >= sizes.cap ? `${sizes.cap}+` : `${expected.ids.length}`
  if (found.totals.join() !== total) return `total ${found.totals.join()} instead of ${total}`
  const at = expected.ids.findIndex((id, index) => found.ids[index] !== id)
  if (at < 0 && found.ids.length === expected.ids.length) return null
  const missing = expected.ids.filter(id => !found.ids.includes(id))
  const extra = found.ids.filter(id => !expected.ids.includes(id))
  return `differ at ${at} of ${expected.ids.length}; missing ${missing.slice(0, 3)}; too many ${extra.slice(0, 3)}`
}

/** Asks both so many random questions, and says where they differ. */
export async function differences(
  index: SearchIndex,
  articles: Known[],
  random: Random,
  count: number,
): Promise<string[]> {
  const sizes = { cap: 10_000, memory: { segment: 8n, words: 500 }, first: 100, prefetch: 100 }
  const found: string[] = []
  for (let number = 0; number < count; number++) {
    const question = randomQuestion(random, articles)
    const differs = await difference(index, articles, question, sizes)
    if (differs !== null) found.push(`${differs} ${inWords(question)}`)
  }
  return found
}

/** To be asked again: as JSON, which knows no large integers. */
export function inWords(asked: object): string {
  return JSON.stringify(asked, (_, value: unknown) =>
    typeof value === 'bigint' ? `${value}n` : value,
  )
}
