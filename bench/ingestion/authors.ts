import { authorChoice } from '#services/normaliser/authors/authors'
import type { Count, ReadPage } from './truth.ts'

/** Bylines in the test sets that decision 35 does not count as people. */
const NO_PERSON =
  /redaktion|redactie|r[ée]daction|newsdesk|team\b|pressestelle|agentur|^(?:dpa|dsw|lno|afp|sid|apa|ap|red|unknown|reuters)\b|associated press|www\.|\bAG$/i

/**
 * Counts whether the author names that we find on a page are those of the test set. The comparison
 * ignores case and accents.
 * - `as_stated` compares with all names of the set.
 * - `people` compares without desks, agencies and the outlet's own name, as decision 35 asks.
 * - `signed` counts only pages whose byline names people. On the others, finding nobody is right.
 */
export function scoreAuthors({ set, url, authors, meta }: ReadPage, count: Count): void {
  if (authors === null) return
  const host = new URL(url).hostname.replace(/^www\./, '')
  const label = fold(host.split('.').at(-2) ?? '').replaceAll(' ', '')
  const isOwn = (name: string) =>
    label.length >= 3 && fold(name).replaceAll(' ', '').includes(label)
  const found = setOf(authorChoice(meta, null, { name: host, domain: host })?.value ?? [])
  const people = setOf(authors.filter(name => !NO_PERSON.test(name.trim()) && !isOwn(name)))
  count(`authors_${set}_as_stated`, found === setOf(authors))
  count(`authors_${set}_people`, found === people)
  if (people !== '') count(`authors_${set}_signed`, found === people)
}

/** The names as one text to compare: folded, each once, sorted. */
const setOf = (names: string[]): string =>
  [...new Set(names.map(fold))]
    .filter(name => name !== '')
    .sort()
    .join('|')

const fold = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
