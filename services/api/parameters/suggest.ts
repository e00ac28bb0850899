import type { ParameterName } from '../contract/parameters.ts'

// Names that people write who know another interface.
const SYNONYMS: Record<string, ParameterName> = {
  query: 'q',
  search_term: 'q',
  mode: 'search',
  in: 'search_in',
  countries: 'country',
  lang: 'language',
  source: 'outlet',
  domain: 'outlet',
  by: 'author',
  from: 'published_after',
  since: 'published_after',
  to: 'published_before',
  until: 'published_before',
  sort_by: 'sort',
  order_by: 'sort',
  direction: 'order',
  limit: 'per_page',
  page_size: 'per_page',
  size: 'per_page',
  page: 'cursor',
  next_cursor: 'cursor',
}

/** Which of some parameters an unknown name probably means; null: none. */
export function suggest(name: string, parameters: readonly string[]): string | null {
  if (name.length > 40) return null
  const written = plain(name)
  if (written === '') return null
  const synonym = Object.entries(SYNONYMS).find(([word]) => plain(word) === written)
  if (synonym && parameters.includes(synonym[1])) return synonym[1]
  let best: string | null = null
  let bestDistance = Number.POSITIVE_INFINITY
  for (const known of parameters) {
    const distance = editDistance(written, plain(known))
    if (distance < bestDistance) [best, bestDistance] = [known, distance]
  }
  // One slip in a short name, two in a long one; `q` is near to every single letter.
  const allowed = written.length <= 2 ? 0 : written.length <= 5 ? 1 : 2
  return bestDistance <= allowed ? best : null
}

const plain = (name: string) => name.toLowerCase().replace(/[^a-z0-9]/g, '')

/**
 * Insertions, deletions, replacements and swaps of neighbours (optimal string alignment) between
 * two short words.
 */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = last[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      let least = Math.min(replaced, last[j]! + 1, row[j - 1]! + 1)
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        least = Math.min(least, beforeLast[j - 2]! + 1)
      }
      row.push(least)
    }
    ;[beforeLast, last] = [last, row]
  }
  return last[b.length]!
}
