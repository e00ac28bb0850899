import { anyOf } from '../languages/index.ts'
import { fold } from '../metadata/fold.ts'
import type { PageMark, PageMetadata } from '../metadata/metadata.ts'
import { type FoundDate, findDates, labelOf, type Reading } from './written.ts'

/** How many lines behind the headline, and before it, a dateline may stand. */
const BEHIND = 12
const BEFORE = 6
const BESIDE = 3

/** A line longer than this is prose: its dates are of what it tells. */
const DATELINE_LENGTH = 120

/**
 * Unless it opens with one as agencies do, after a place perhaps: `Karlsruhe (12.11.2021) – …`,
 * `29.11.2022 – …`.
 */
const PLACE = /^(?:\p{Lu}[\p{L}\s./-]{0,24}[,(]?\s*)?\(?$/u
const BREAK = /^\s*(?:\)|[-–—|:.]\s|,?\s*\d{1,2}[:.h]\d{2})/

/** Whether a text opens with this date, as agencies' texts do. */
export function opensWith(text: string, date: FoundDate): boolean {
  return PLACE.test(text.slice(0, date.index)) && BREAK.test(text.slice(date.end))
}

/**
 * Before the date of a picture, of a post that the article shows, or of what a line tells in
 * brackets: `Foto: Jan Smit, 3-11-2026`, `Jan Smit (@jan) 3 november 2026`,
 * `Soldaten op wacht (Kunduz, 3-11-2026)`.
 */
const OTHERS = new RegExp(
  String.raw`(?:\b${anyOf(rules => rules.dates.pictures)}s?\b|©)\D{0,40}$|\(@\w+\)|.{25}\([^)]{0,40}$`,
  'i',
)

/**
 * Dates in the lines around the headline that could be the publication's, the likeliest place
 * first.
 */
export function nearDatelines(meta: PageMetadata, changes: PageMark[], reading: Reading): FoundDate[] {
  return nearLines(meta, changes).flatMap(line => datelinesIn(line, reading))
}

/** Whether a line stands where datelines do. */
export function isNear({ headline }: PageMetadata, line: number): boolean {
  return headline !== null && line >= headline - BEFORE && line <= headline + BEHIND
}

function datelinesIn(line: string, reading: Reading): FoundDate[] {
  return publications(line, reading).filter(
    date => (line.length <= DATELINE_LENGTH || opensWith(line, date)) && !OTHERS.test(line.slice(0, date.index)),
  )
}

/** All dates in a text but those of changes. */
export function publications(text: string, reading: Reading): FoundDate[] {
  return findDates(text, reading).filter(date => !date.modified)
}

/**
 * Behind the headline first, then before it; next behind it also what looks like no part of the
 * article. Not before it: there the masthead tells the day of reading.
 */
function nearLines(meta: PageMetadata, changes: PageMark[]): string[] {
  const { headline } = meta
  if (headline === null) return []
  const from = Math.max(0, headline - BEFORE)
  const around = meta.lines.slice(from, headline + 1 + BEHIND).map((line, at) => ({
    aside: line.aside,
    index: from + at,
    text: withoutChanges(
      line.text,
      changes.filter(change => change.line === from + at),
    ),
  }))
  const behind = around.filter(line => line.index > headline)
  const before = around.filter(line => line.index < headline).reverse()
  const beside = behind.slice(0, BESIDE).filter(line => line.aside)
  return [...[...behind, ...before].filter(line => !line.aside), ...beside].map(({ text, index }) =>
    labelled(meta, text, index),
  )
}

/**
 * Themes hide the time of a change in the byline: `<span class="updated"
 * style="display:none">2026-11-04T…</span>`. Where nothing else in the line is a date, hAtom's
 * "updated" was all that the theme had for the day of publication.
 */
export function withoutChanges(text: string, changes: PageMark[]): string {
  let rest = text
  for (const mark of changes) if (mark.text !== '') rest = rest.replace(mark.text, ' ')
  return rest !== text && findDates(rest).length > 0 ? rest : text
}

/**
 * Behind the headline where the page tells it once more, as in a box about the article or a list
 * that names it too; not in a list whose dates stand before what they date.
 */
export function datelinesOfRepeats(meta: PageMetadata, reading: Reading): FoundDate[] {
  const { headline, lines } = meta
  const title = headline === null ? '' : fold(lines[headline]?.text ?? '')
  if (title.length < 10) return []
  const found: string[] = []
  for (const [index, { text }] of lines.entries()) {
    if (index === headline || found.length > REPEATS) continue
    const said = fold(text)
    if (!said.startsWith(title) || /\d{4}/.test(lines[index - 1]?.text ?? '')) continue
    if (said !== title) found.push(text.slice(-BEHIND_TITLE))
    else for (let at = index + 1; at <= index + BESIDE; at += 1) found.push(labelled(meta, lines[at]?.text ?? '', at))
  }
  return found.flatMap(line => datelinesIn(line, reading))
}
const REPEATS = 30
/** Room for a day and a time in the line of a title. */
const BEHIND_TITLE = 40

/** Lines of the article that hold a date and a time of day at most, wherever they stand. */
export function bareDatelines(meta: PageMetadata, reading: Reading): FoundDate[] {
  return meta.lines.flatMap((line, index) => {
    if (line.aside || line.text.length > BARE_LENGTH || !/\d/.test(line.text)) return []
    const text = labelled(meta, line.text, index)
    return publications(text, reading).filter(date => {
      const rest = `${text.slice(0, date.index)} ${text.slice(date.end)}`
      return !/\p{L}|\d/u.test(rest.replace(/\([^)]*\)/g, ' ').replace(AROUND, ' '))
    })
  })
}
const BARE_LENGTH = 80
/** Weekdays, small words and clocks around a date. */
const AROUND = new RegExp(
  String.raw`(?<!\p{L})(?:${anyOf(rules => rules.dates.weekdays)}|\p{L}{2,3}\.|${anyOf(rules => rules.dates.around)}|${anyOf(rules => rules.dates.hours)}|[ap]m|\d{1,2}[:.hu]\d{2}(?::\d{2})?)(?!\p{L})`,
  'giu',
)

/**
 * What the words before a marked date say of it: those in its line, or the line before when that is
 * a label.
 */
export function labelBefore(meta: PageMetadata, mark: PageMark): ReturnType<typeof labelOf> {
  const line = meta.lines[mark.line]?.text ?? ''
  const at = mark.text === '' ? -1 : line.indexOf(mark.text)
  return labelOf(at > 0 ? line.slice(0, at) : labelLine(meta, mark.line))
}

function labelled(meta: PageMetadata, text: string, index: number): string {
  const label = labelLine(meta, index)
  return labelOf(label) === null ? text : `${label} ${text}`
}

/**
 * The line before, when it does nothing but name the next one:
 * `<dt>Bijgewerkt</dt><dd>3 november 2026</dd>`.
 */
function labelLine({ lines, headline }: PageMetadata, index: number): string {
  const before = index - 1 === headline ? '' : (lines[index - 1]?.text ?? '')
  return before.length <= LABEL_LENGTH && !/\d/.test(before) ? before : ''
}
const LABEL_LENGTH = 40

/**
 * Whether the page's own dates put the month first, as in `11/23/2026`; null when none tells. A
 * page in American English from a publisher here may go either way.
 */
export function monthFirstIn(meta: PageMetadata): boolean | null {
  let [monthFirst, dayFirst] = [0, 0]
  for (const { text } of meta.lines) {
    for (const [, a, b] of text.matchAll(/(?<![\d./-])(\d{1,2})\/(\d{1,2})\/\d{4}(?!\d)/g)) {
      if (Number(a) > 12 && Number(b) <= 12) dayFirst += 1
      if (Number(b) > 12 && Number(a) <= 12) monthFirst += 1
    }
  }
  return monthFirst === dayFirst ? null : monthFirst > dayFirst
}
