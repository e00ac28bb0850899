import type { Source } from '../../../shared/outlets/origins.ts'
import { anyOf } from '../languages/index.ts'
import type { PageMark, PageMetadata } from '../metadata/metadata.ts'
import {
  bareDatelines,
  datelinesOfRepeats,
  isNear,
  labelBefore,
  nearDatelines,
  opensWith,
  publications,
  withoutChanges,
} from './datelines.ts'
import { type DateOptions, type FoundDate, findDates, readDate, sameDay, type WrittenDate } from './written.ts'

/** Class names of changes, and of today. */
const NOT_PUBLISHED = new RegExp(`modif|updat|changed|today|current|${anyOf(rules => rules.markup.notPublished)}`)

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

/** A date with the place where it stands. */
export interface PageDate {
  source: Source
  date: WrittenDate
}

const from = (source: Source, dates: WrittenDate[]) => dates.map((date): PageDate => ({ source, date }))

/**
 * Dates that the page shows, the likeliest publication first. Dates near the headline come before
 * others, dates with a label of publication before those without, machine-readable dates before
 * texts. Dates on the day in the address come before all. They are searched lazily, because most
 * pages state their date in structured data.
 */
export function* pageDates(
  meta: PageMetadata,
  pageText: string,
  address: WrittenDate | null,
  options: DateOptions,
): Generator<PageDate> {
  const read = (value: string | null) => [readDate(value ?? '', options)].filter(date => date !== null)
  const dated = meta.marks.filter(mark => mark.kind === 'date')
  const changes = dated.filter(mark => isChange(meta, mark))
  const marks = dated.filter(mark => !changes.includes(mark))
  const inMark = (mark: PageMark) => {
    const inside = changes.filter(change => change.path.includes(mark.path.at(-1) ?? -1))
    return [...read(mark.value), ...publications(withoutChanges(mark.text, inside), options)]
  }
  const near = marks
    .filter(mark => !mark.aside && isNear(meta, mark.line))
    .toSorted((a, b) => rank(a) - rank(b))
    .map(mark => ({ stated: isStated(meta, mark), dates: inMark(mark) }))
  const lines = nearDatelines(meta, changes, options)
  const published = lines.filter(date => date.published)
  const around = [
    ...near.filter(mark => mark.stated).flatMap(mark => from('markup', mark.dates)),
    ...from('line', published),
    ...near.flatMap(mark => from('markup', mark.dates)),
    ...from('line', lines),
  ]
  if (address !== null) yield* around.filter(({ date }) => sameDay(date, address))
  yield* around
  yield* from('vague meta', meta.dates.vague.flatMap(read))
  if (address !== null) yield { source: 'address', date: address }
  yield* from('line', datelinesOfRepeats(meta, options))
  yield* from('markup', marks.filter(mark => !mark.aside).flatMap(inMark))
  yield* from('line', notesIn(meta, options))
  const opening = publications(pageText.slice(0, 200), options)
  yield* from(
    'page',
    opening.filter(date => date.published || opensWith(pageText, date)),
  )
  yield* from('script', meta.dates.scripted.flatMap(read))
  yield* from('line', bareDatelines(meta, options))
}

/** Dates in lines that state the publication, or open with a dateline. */
function notesIn(meta: PageMetadata, options: DateOptions): FoundDate[] {
  return meta.lines.flatMap(line =>
    line.aside
      ? []
      : findDates(line.text, options).filter(date => isNote(line.text, date) || opensWith(line.text, date)),
  )
}

/**
 * Whether a line states the publication of its article. Prose also states the publication of books,
 * but not at its beginning.
 */
function isNote(line: string, date: FoundDate): boolean {
  return date.published && (line.length <= NOTE_LENGTH || date.index <= NOTE_LENGTH / 2)
}
const NOTE_LENGTH = 120

/**
 * Whether a mark holds the day of a change, or today's: by its class names, or by the words before
 * it.
 */
function isChange(meta: PageMetadata, mark: PageMark): boolean {
  if (/publi|posted/.test(mark.hint)) return false
  return NOT_PUBLISHED.test(mark.hints) || labelBefore(meta, mark) === 'modified'
}

function isStated(meta: PageMetadata, mark: PageMark): boolean {
  return /publi|posted|created/.test(mark.hint) || labelBefore(meta, mark) === 'published'
}

function rank({ by }: PageMark): number {
  return by === 'microdata' ? 0 : by === 'time' ? 1 : 2
}
