import { anyOf } from '#services/normaliser/languages/index'
import { fold } from '#services/normaliser/markup/plain'
import type { Mark } from '#services/normaliser/metadata/marks'
import type { PageMetadata } from '#services/normaliser/metadata/metadata'
import { type DateOptions, type FoundDate, findDates, labelOf } from './written.ts'

/**
 * How many lines may hold a dateline: after the headline, before it, and directly after it even
 * when they do not look like a part of the article.
 */
const BEHIND = 12
const BEFORE = 6
const BESIDE = 3

/**
 * Longest dateline, in characters. A longer line is prose, whose dates belong to the events that it
 * reports.
 */
const DATELINE_LENGTH = 120

/**
 * Prose may begin with a dateline in the style of agencies, perhaps after a place: `Karlsruhe
 * (12.11.2021) – …`, `29.11.2022 – …`.
 */
const PLACE = /^(?:\p{Lu}[\p{L}\s./-]{0,24}[,(]?\s*)?\(?$/u
const BREAK = /^\s*(?:\)|[-–—|:.]\s|,?\s*\d{1,2}[:.h]\d{2})/

/** Whether a text begins with this date, in the style of agencies. */
export const opensWith = (text: string, date: FoundDate): boolean =>
  PLACE.test(text.slice(0, date.index)) && BREAK.test(text.slice(date.end))

/**
 * Matches the text before a date that is not the publication's. Such a date belongs to a picture,
 * to a post that the article shows, or to an event in brackets: `Foto: Jan Smit, 3-11-2026`, `Jan
 * Smit (@jan) 3 november 2026`, `Soldaten op wacht (Kunduz, 3-11-2026)`.
 */
const OTHERS = new RegExp(
  String.raw`(?:\b${anyOf(rules => rules.dates.pictures)}s?\b|©)\D{0,40}$|\(@\w+\)|.{25}\([^)]{0,40}$`,
  'i',
)

/**
 * Dates in the lines around the headline that could be the publication's. The most probable line
 * comes first.
 */
export const nearDatelines = (
  meta: PageMetadata,
  changes: Mark[],
  options: DateOptions,
): FoundDate[] => nearLines(meta, changes).flatMap(line => datelinesIn(line, options))

/** Whether a line is near enough to the headline for a dateline. */
export const isNear = ({ headline }: PageMetadata, line: number): boolean =>
  headline !== null && line >= headline - BEFORE && line <= headline + BEHIND

const datelinesIn = (line: string, options: DateOptions): FoundDate[] =>
  publications(line, options).filter(
    date =>
      (isDateline(line, date) || opensWith(line, date)) && !OTHERS.test(line.slice(0, date.index)),
  )

/**
 * Whether a line is short, and no sentence with a date after several words: that is the date of an
 * event.
 */
const isDateline = (line: string, { published, index }: FoundDate): boolean =>
  line.length <= DATELINE_LENGTH &&
  (published || !/[.!?]["”»]?$/.test(line) || !/^(?:\S+\s+){5}/.test(line.slice(0, index)))

/** All dates in a text, without dates of changes. */
export const publications = (text: string, options: DateOptions): FoundDate[] =>
  findDates(text, options).filter(date => !date.modified)

/**
 * The lines after the headline, then the lines before it. The first lines after it count even when
 * they do not look like a part of the article, unless they are of another one. Such lines before it
 * do not count, because the page's header shows today's date.
 */
function nearLines(meta: PageMetadata, changes: Mark[]): string[] {
  const { headline } = meta
  if (headline === null) return []
  const from = Math.max(0, headline - BEFORE)
  const around = meta.lines.slice(from, headline + 1 + BEHIND).map((line, at) => ({
    aside: line.aside,
    ofItem: line.ofItem,
    index: from + at,
    text: withoutChanges(
      line.text,
      changes.filter(change => change.line === from + at),
    ),
  }))
  const behind = around.filter(line => line.index > headline)
  const before = around.filter(line => line.index < headline).reverse()
  const beside = behind.slice(0, BESIDE).filter(line => line.aside && !line.ofItem)
  return [...[...behind, ...before].filter(line => !line.aside), ...beside].map(({ text, index }) =>
    labelled(meta, text, index),
  )
}

/**
 * Removes dates of changes from a line. Themes hide the time of a change in the byline: `<span
 * class="updated" style="display:none">2026-11-04T…</span>`. When the line has no other date, the
 * date of the change stays, because some themes write the day of publication as hAtom's "updated".
 */
export function withoutChanges(text: string, changes: Mark[]): string {
  let rest = text
  for (const mark of changes) if (mark.text !== '') rest = rest.replace(mark.text, ' ')
  return rest !== text && findDates(rest).length > 0 ? rest : text
}

/**
 * Dates after a second mention of the headline, in a box about the article or in a list. A list
 * whose dates stand before their titles is left out.
 */
export function datelinesOfRepeats(meta: PageMetadata, options: DateOptions): FoundDate[] {
  const { headline, lines } = meta
  const title = headline === null ? '' : fold(lines[headline]?.text ?? '')
  if (title.length < 10) return []
  const found: string[] = []
  for (const [index, { text }] of lines.entries()) {
    if (index === headline || found.length > REPEATS) continue
    const said = fold(text)
    if (!said.startsWith(title) || /\d{4}/.test(lines[index - 1]?.text ?? '')) continue
    if (said !== title) found.push(text.slice(-BEHIND_TITLE))
    else
      for (let at = index + 1; at <= index + BESIDE; at += 1)
        found.push(labelled(meta, lines[at]?.text ?? '', at))
  }
  return found.flatMap(line => datelinesIn(line, options))
}
const REPEATS = 30
/**
 * How many characters at the end of a line `datelinesOfRepeats` reads, when a title begins the
 * line. A day and a time fit into this number.
 */
const BEHIND_TITLE = 40

/** Dates in lines of the article that hold only a date and perhaps a time, anywhere on the page. */
export const bareDatelines = (meta: PageMetadata, options: DateOptions): FoundDate[] =>
  meta.lines.flatMap((line, index) => {
    if (line.aside || line.text.length > BARE_LENGTH || !/\d/.test(line.text)) return []
    const text = labelled(meta, line.text, index)
    return publications(text, options).filter(date => {
      const rest = `${text.slice(0, date.index)} ${text.slice(date.end)}`
      return !/\p{L}|\d/u.test(rest.replace(/\([^)]*\)/g, ' ').replace(AROUND, ' '))
    })
  })
const BARE_LENGTH = 80
/**
 * Words that may stand around a date in its line: weekdays, small words such as "at", times of day.
 */
const AROUND = new RegExp(
  String.raw`(?<!\p{L})(?:${anyOf(rules => rules.dates.weekdays)}|\p{L}{2,3}\.|${anyOf(rules => rules.dates.around)}|${anyOf(rules => rules.dates.hours)}|[ap]m|\d{1,2}[:.hu]\d{2}(?::\d{2})?)(?!\p{L})`,
  'giu',
)

/**
 * The meaning of a marked date, by the words before it in its line, or by the line before when that
 * is a label.
 */
export function labelBefore(meta: PageMetadata, mark: Mark): 'published' | 'modified' | null {
  const line = meta.lines[mark.line]?.text ?? ''
  const at = mark.text === '' ? -1 : line.indexOf(mark.text)
  return labelOf(at > 0 ? line.slice(0, at) : labelLine(meta, mark.line))
}

/** A line with the line before it, when that is only a label. */
export function labelled(meta: PageMetadata, text: string, index: number): string {
  const label = labelLine(meta, index)
  return labelOf(label) === null ? text : `${label} ${text}`
}

/**
 * The line before, when it is only a label for this line: `<dt>Bijgewerkt</dt><dd>3 november
 * 2026</dd>`.
 */
function labelLine({ lines, headline }: PageMetadata, index: number): string {
  const before = index - 1 === headline ? '' : (lines[index - 1]?.text ?? '')
  return before.length <= LABEL_LENGTH && !/\d/.test(before) ? before : ''
}
const LABEL_LENGTH = 40

/**
 * Whether the page's own dates put the month first, as in `11/23/2026`; null when no date shows the
 * order. Publishers in our countries use both orders in American English.
 */
export function monthFirstIn(meta: PageMetadata): boolean | null {
  let balance = 0
  for (const { text } of meta.lines)
    for (const [, a, b] of text.matchAll(/(?<![\d./-])(\d{1,2})\/(\d{1,2})\/\d{4}(?!\d)/g))
      balance += Number(Number(b) > 12) - Number(Number(a) > 12)
  return balance === 0 ? null : balance > 0
}
