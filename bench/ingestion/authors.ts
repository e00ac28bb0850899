import { authorChoice } from '../../services/normaliser/authors/authors.ts'
import { parsePage } from '../../services/normaliser/markup/tree.ts'
import { readMetadata } from '../../services/normaliser/metadata/metadata.ts'
import { type Figures, percent } from '../figures.ts'
import { type TruePage, truePages } from './truth.ts'

/** Bylines in the sets that decision 35 does not count as people. */
const NO_PERSON =
  /redaktion|redactie|r[ée]daction|newsdesk|team\b|pressestelle|agentur|^(?:dpa|dsw|lno|afp|sid|apa|ap|red|unknown|reuters)\b|associated press|www\.|\bAG$/i

/**
 * Percent of pages whose set of author names equals the set's own, ignoring case and accents.
 * `as_stated`: against all names of the set. `people`: without desks, agencies and the outlet's own
 * name, as decision 35 asks. A page without a by-line is right when no author is found.
 */
export async function measureAuthors(data: string): Promise<Figures> {
  const figures: Figures = {}
  for (const set of ['fundus', 'trafilatura'] as const) {
    const counted = { pages: 0, asStated: 0, people: 0, signed: 0, signedRight: 0 }
    for await (const page of truePages(data, set)) {
      if (page.authors !== null) count(counted, page, page.authors)
    }
    if (counted.pages === 0) continue
    figures[`authors_${set}_pages`] = counted.pages
    figures[`authors_${set}_as_stated`] = percent(counted.asStated, counted.pages)
    figures[`authors_${set}_people`] = percent(counted.people, counted.pages)
    figures[`authors_${set}_signed`] = percent(counted.signedRight, counted.signed)
  }
  return figures
}

interface Counted {
  pages: number
  asStated: number
  people: number
  signed: number
  signedRight: number
}

function count(counted: Counted, page: TruePage, authors: string[]): void {
  const host = new URL(page.url).hostname.replace(/^www\./, '')
  const found = setOf(
    authorChoice(readMetadata(parsePage(page.html), page.url), null, { name: host, domain: host })?.value ?? [],
  ).join('|')
  const people = peopleOf(page, authors).join('|')
  counted.pages += 1
  if (found === setOf(authors).join('|')) counted.asStated += 1
  if (found === people) counted.people += 1
  if (people !== '') counted.signed += 1
  if (people !== '' && found === people) counted.signedRight += 1
}

/** The people among a set's names of a page, folded. */
function peopleOf(page: TruePage, authors: string[]): string[] {
  return setOf(authors.filter(name => !NO_PERSON.test(name.trim()) && !isOwn(name, page)))
}

function isOwn(name: string, page: TruePage): boolean {
  const label = new URL(page.url).hostname.split('.').at(-2) ?? ''
  return label.length >= 3 && fold(name).replaceAll(' ', '').includes(fold(label).replaceAll(' ', ''))
}

/** Different names, folded, in one order. */
function setOf(names: string[]): string[] {
  return [...new Set(names.map(fold))].filter(name => name !== '').sort()
}

function fold(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
}
