import { anyOf } from '../languages/index.ts'
import type { PageMetadata } from '../metadata/metadata.ts'
import { isAgency, isOffice } from './person-names.ts'

/** Lines behind the headline, and before it, in which a byline may stand. */
const BEHIND = 12
const BEFORE = 4

/** Longest byline, in characters. */
const BYLINE_LENGTH = 120

const NAME = String.raw`(\p{L}[\p{L}\p{M}\d_.'’ ,&-]{1,80})`

const BY = anyOf(rules => rules.authors.byWords)

/**
 * Near the headline: "Von Anna Weber", "Door: Jan Smit", "Ein Artikel von Anna Weber | 3.11.2026".
 */
const OPENING = new RegExp(
  String.raw`^(?:${anyOf(rules => rules.authors.indefiniteArticles)}\s)?(?:${anyOf(rules => rules.authors.openings)}\s)?${BY}\s?:?\s${NAME}`,
  'iu',
)

/**
 * Near the headline: "Gepubliceerd op 3 november 2026 door Jan Smit", "3.11.2026 14:05 von Anna
 * Weber", "Redaktion: Anna Weber".
 */
const BEHIND_DATE = new RegExp(
  String.raw`(?:${anyOf(rules => rules.authors.publishedVerbs)}\b[^.]{0,60}\s${BY}|(?:19|20)\d{2}[\s\d:.,–|-]{0,20}${anyOf(rules => rules.dates.hours)}?\s*${BY}|(?:^|[-–—|]\s)${anyOf(rules => rules.authors.textLabels)}\s?(?=:))\s?:?\s${NAME}`,
  'iu',
)

/** Anywhere in the article: "Autorin: Anna Weber, Korrespondentin". */
const SIGNED = new RegExp(
  String.raw`^(?:${anyOf(rules => rules.authors.authorLabels)}\s?:\s(?:${BY}\s)?|${anyOf(rules => rules.authors.writtenVerbs)}\s${BY}\s)${NAME}`,
  'iu',
)

/** Bylines in the text of the page, recognised by their words and not by markup. */
export function spokenBylines(meta: PageMetadata): string[] {
  const lines = meta.lines
    .map((line, index) => ({ ...line, index }))
    .filter(line => !line.aside && line.text.length <= BYLINE_LENGTH)
  const near = lines.filter(line => isNear(line.index, meta.headline))
  const spoken = near.flatMap(line => nameIn(OPENING, line.text) ?? nameIn(BEHIND_DATE, line.text) ?? [])
  const shared = near.flatMap(line => (withAgency(line.text) ? [line.text] : []))
  if (spoken.length + shared.length > 0) return [...spoken, ...shared].slice(0, 1)
  const title = meta.titles.headline ?? ''
  return lines
    .flatMap(line => nameIn(SIGNED, line.text) ?? [])
    .filter(name => !title.startsWith(name.slice(0, 12)))
    .slice(0, 1)
}

export function isNear(line: number, headline: number | null): boolean {
  return headline === null || (line !== headline && line >= headline - BEFORE && line <= headline + BEHIND)
}

/**
 * Whether a line is a byline without a label, a name beside an agency's: "Peter Maahn/SP-X", "Jan
 * Smit (ANP)".
 */
function withAgency(line: string): boolean {
  const [, name, agency] =
    /^(\p{Lu}[\p{L}.'’-]+(?:\s[\p{L}.'’-]+){1,3})\s*[/,(]\s*([\p{L}-]{2,30})\)?$/u.exec(line) ?? []
  return name !== undefined && agency !== undefined && isAgency(agency) && !isOffice(name)
}

/** The text behind the label, up to a date or a place. */
function nameIn(label: RegExp, line: string): string | null {
  const name = label
    .exec(line)?.[1]
    ?.replace(/\s[-–—]\s.*$/u, '')
    .trim()
  return name !== undefined && name !== '' ? name : null
}
