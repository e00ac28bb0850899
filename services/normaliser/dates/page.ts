import type { PageMetadata } from '../metadata/metadata.ts'
import { type FoundDate, findDates, type Reading, readDate, type WrittenDate } from './written.ts'

/** How many lines behind the headline, and before it, a dateline may stand. */
const BEHIND = 12
const BEFORE = 6
const BESIDE = 3

/** A line longer than this is prose: its dates are of what it tells. */
const DATELINE_LENGTH = 120

/** Unless it opens with one as agencies do, after a place perhaps: `Karlsruhe (12.11.2021) – …`, `29.11.2022 – …`. */
const PLACE = /^(?:\p{Lu}[\p{L}\s./-]{0,24}[,(]?\s*)?\(?$/u
const BREAK = /^\s*(?:\)|[-–—|:.]\s|,?\s*\d{1,2}[:.h]\d{2})/

function opensWith(line: string, date: FoundDate): boolean {
  return PLACE.test(line.slice(0, date.index)) && BREAK.test(line.slice(date.end))
}

/** Class names of changes, and of today. */
const NOT_PUBLISHED = /modif|updat|changed|aktualis|today|current|vandaag|aujourd|heute/

/** What stands in a picture's caption is the picture's date. */
const CAPTION = /(?:\b(?:foto|photo|bild|picture)s?\b|©)\D{0,40}$/i

/** The day that an address names: `/2026/11/03/`, `/2026-11-03-title`, `/20261103/`. */
export function addressDate(url: string): WrittenDate | null {
  const path = URL.parse(url)?.pathname ?? ''
  const reversed = /(?<!\d)(\d{2})[/-](\d{2})[/-]((?:19|20)\d{2})(?!\d)/.exec(path)
  if (reversed !== null) return readDate(`${reversed[3]}-${reversed[2]}-${reversed[1]}`)
  const match =
    /(?<!\d)((?:19|20)\d{2})([/_.-])(\d{1,2})\2(\d{1,2})(?!\d)/.exec(path) ??
    /(?<![\dA-Za-z])((?:19|20)\d{2})()([01]\d)([0-3]\d)(?!\d)/.exec(path)
  return match === null ? null : readDate(`${match[1]}-${match[3]?.padStart(2, '0')}-${match[4]?.padStart(2, '0')}`)
}

/**
 * Dates that the page shows, the likeliest publication first: what stands near the headline before what stands
 * further off, machine-readable before read, the day that the address names before any other.
 */
export function pageDates(
  meta: PageMetadata,
  pageText: string,
  address: WrittenDate | null,
  reading: Reading,
): WrittenDate[] {
  const read = (value: string | null) => [readDate(value ?? '', reading)].filter(date => date !== null)
  const marks = meta.marks.filter(
    mark => mark.kind === 'date' && (/publi|posted/.test(mark.hint) || !NOT_PUBLISHED.test(mark.hints)),
  )
  const near = marks.filter(mark => !mark.aside && isNear(meta, mark.line))
  const marked = near
    .toSorted((a, b) => rank(a.by, a.hint) - rank(b.by, b.hint))
    .flatMap(mark => [...read(mark.value), ...publications(mark.text, reading)])
  const lines = nearLines(meta).flatMap(line =>
    publications(line, reading).filter(
      date => (line.length <= DATELINE_LENGTH || opensWith(line, date)) && !CAPTION.test(line.slice(0, date.index)),
    ),
  )
  const around = [...marked, ...lines]
  const agreed = address === null ? [] : around.filter(date => sameDay(date, address))
  return [
    ...agreed,
    ...around,
    ...meta.dates.vague.flatMap(read),
    ...(address === null ? [] : [address]),
    ...marks.filter(mark => !mark.aside).flatMap(mark => [...read(mark.value), ...publications(mark.text, reading)]),
    ...meta.lines.flatMap(line =>
      line.aside ? [] : findDates(line.text, reading).filter(date => date.published || opensWith(line.text, date)),
    ),
    ...publications(pageText.slice(0, 200), reading).filter(date => date.published || opensWith(pageText, date)),
    ...meta.dates.scripted.flatMap(read),
  ]
}

function publications(text: string, reading: Reading): FoundDate[] {
  return findDates(text, reading).filter(date => !date.modified)
}

function isNear(meta: PageMetadata, line: number): boolean {
  const { headline } = meta
  return headline !== null && line >= headline - BEFORE && line <= headline + BEHIND
}

/**
 * Behind the headline first, then before it; next behind it also what looks like no part of the article. Not before it:
 * there the masthead tells the day of reading.
 */
function nearLines(meta: PageMetadata): string[] {
  const { headline, lines } = meta
  if (headline === null) return []
  const behind = lines.slice(headline + 1, headline + 1 + BEHIND)
  const before = lines.slice(Math.max(0, headline - BEFORE), headline).reverse()
  const beside = behind.slice(0, BESIDE).filter(line => line.aside)
  return [...[...behind, ...before].filter(line => !line.aside), ...beside].map(line => line.text)
}

function rank(by: string, hint: string): number {
  return (by === 'microdata' ? 0 : by === 'time' ? 1 : 2) - (/publi|posted|created/.test(hint) ? 3 : 0)
}

function sameDay(a: WrittenDate, b: WrittenDate): boolean {
  return a.year === b.year && a.month === b.month && a.day === b.day
}
