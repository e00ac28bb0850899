import { createHash, hash } from 'node:crypto'
import { eachIn, type Pace } from '#search/index'
import type { WithPermit } from '#services/api/access/access'
import { articleIn, type Listed } from '#services/api/articles/shown-article'
import { LIMITS } from '#services/api/contract/parameters'
import { type ArticlesRequest, searchOf } from '#services/api/contract/request'
import type { ArticleObject } from '#services/api/contract/resources'
import type { CitedNumber } from '#shared/desk/citations'
import { bareLineOf, type Said, saidHash } from '#shared/desk/cited-removals'
import type { Reach } from '#shared/plans/reach'

/*
 * The exact bytes of a citation (docs/citations.md). They depend on no key, no `seq` and no plan of
 * a reader.
 */

export const MOST_CITED = 100_000

/** The search as it stands in a citation: in its one spelling, without paging. */
export const citedSearch = (request: ArticlesRequest): string =>
  searchOf({ ...request, perPage: LIMITS.perPage.default })

/** The lines that stand before the lines of the articles. */
export function headOf(search: string, { countries, since }: Reach): string[] {
  const named = new URLSearchParams(search)
  return [
    'perscope-citation/1',
    search,
    named.has('country') ? '' : countries.join(','),
    named.has('published_after') ? '' : since.toISOString(),
  ]
}

type Identified = Pick<ArticleObject, 'id' | 'ingested_at' | 'published_at'>

export const lineOf = (article: Said & Identified): string =>
  bareLineOf({ ...article, h: saidHash(article) })

/** The digest of a citation. Ids are ASCII, and no id has a tab. */
export async function citationDigest(
  pace: Pace,
  head: readonly string[],
  lines: readonly string[],
): Promise<string> {
  const digest = createHash('sha256')
  const sorted = await sortedIn(pace, lines, (a, b) => a < b)
  await eachIn(pace, [...head, ...sorted], line => digest.update(`${line}\n`))
  return digest.digest('hex')
}

export const markOf = (line: string): number => hash('sha256', line, 'buffer').readInt32BE()

/** How many articles of a search are read at a time while a citation is made. */
export const CITED_PAGE = 500

/** An article that was found, with its line. */
export interface CitedLine extends CitedNumber {
  id: string
  line: string
}

/** How many values are sorted without a rest. */
const SORTED_AT_ONCE = 500

/** Sorts values by halves, and rests between them. */
async function sortedIn<A>(
  pace: Pace,
  all: readonly A[],
  isBefore: (a: A, b: A) => boolean,
): Promise<A[]> {
  if (pace.isDue()) await pace.rest()
  if (all.length <= SORTED_AT_ONCE) return all.toSorted((a, b) => (isBefore(a, b) ? -1 : 1))
  const half = all.length >> 1
  const left = await sortedIn(pace, all.slice(0, half), isBefore)
  const right = await sortedIn(pace, all.slice(half), isBefore)
  let fromLeft = 0
  let fromRight = 0
  return eachIn(pace, all, () => {
    const isRight =
      fromLeft === left.length ||
      (fromRight < right.length && isBefore(right[fromRight]!, left[fromLeft]!))
    return isRight ? right[fromRight++]! : left[fromLeft++]!
  })
}

const citedLine = (row: Listed): CitedLine => {
  const article = articleIn(row.pieces.json)
  const line = lineOf(article)
  return { seq: row.seq, id: article.id, line, mark: markOf(line) }
}

/**
 * Collects all articles of a search, page by page, in the order of their `seq`.
 *
 * @param page finds the page at a place; null: the first page
 * @param withPace runs work at the pace that it gives
 * @returns more than `MOST_CITED` articles, but not all, when there are too many
 */
export async function collectCited<At>(
  page: (at: At | null) => Promise<{ rows: Listed[]; next: At | null }>,
  withPace: WithPermit,
): Promise<CitedLine[]> {
  const found: CitedLine[] = []
  let at: At | null = null
  do {
    const { rows, next }: { rows: Listed[]; next: At | null } = await page(at)
    found.push(...(await withPace(pace => eachIn(pace, rows, citedLine))))
    at = next
  } while (at !== null && found.length <= MOST_CITED)
  return withPace(pace => sortedIn(pace, found, (a, b) => a.seq < b.seq))
}
