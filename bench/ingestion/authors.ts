import { authorChoice } from '../../services/normaliser/authors/authors.ts'
import type { Count, ReadPage } from './truth.ts'

/** Bylines in the sets that decision 35 does not count as people. */
const NO_PERSON =
  /redaktion|redactie|r[ée]daction|newsdesk|team\b|pressestelle|agentur|^(?:dpa|dsw|lno|afp|sid|apa|ap|red|unknown|reuters)\b|associated press|www\.|\bAG$/i

/**
 * Whether the author names of a page are the set's own, ignoring case and accents. `as_stated`: all
 * names of the set. `people`: without desks, agencies and the outlet's own name, as decision 35
 * asks. A page without a by-line is right when no author is found; `signed` leaves such pages out.
 */
export function scoreAuthors({ set, url, authors, meta }: ReadPage, count: Count): void {
  if (authors === null) return
  const host = new URL(url).hostname.replace(/^www\./, '')
  const label = fold(host.split('.').at(-2) ?? '').replaceAll(' ', '')
  const isOwn = (name: string) => label.length >= 3 && fold(name).replaceAll(' ', '').includes(label)
  const found = setOf(authorChoice(meta, null, { name: host, domain: host })?.value ?? [])
  const people = setOf(authors.filter(name => !NO_PERSON.test(name.trim()) && !isOwn(name)))
  count(`authors_${set}_as_stated`, found === setOf(authors))
  count(`authors_${set}_people`, found === people)
  if (people !== '') count(`authors_${set}_signed`, found === people)
}

/** Different names, folded, in one order. */
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
