import type { Queryable } from '../../../../shared/postgres/pool.ts'
import { LEXEMES, NO_DATE } from '../../../../shared/text/lexemes.ts'
import type { Span } from '../bounds.ts'
import { type Expression, lexeme as lexemeOf } from '../expression.ts'
import type { Axis } from '../query.ts'

/** How many articles there are by day, to choose stretches of time by: never part of an answer. */
export interface Timeline {
  /** Days since 1970 with articles, ascending, and how many articles lie before each; one more count than days. */
  days: Float64Array
  before: Float64Array
}

const DAY = 86_400_000

/** About how many articles lie in a stretch. */
export function articlesIn(timeline: Timeline, { from, to }: Span): number {
  return Math.max(0, articlesBefore(timeline, to) - articlesBefore(timeline, from))
}

/**
 * The next stretch of `span`, beginning at its newest end (or its oldest), with at least about so many articles; cut at
 * midnight, so that days, months and years describe it exactly. All of `span` when little more would be left.
 */
export function nextStretch(timeline: Timeline, span: Span, newestFirst: boolean, articles: number): Span {
  if (articlesIn(timeline, span) <= articles * 1.5) return span
  if (newestFirst) {
    const target = articlesBefore(timeline, span.to) - articles
    const day = dayHolding(timeline, target)
    return day * DAY > span.from && day * DAY < span.to ? { from: day * DAY, to: span.to } : span
  }
  const target = articlesBefore(timeline, span.from) + articles
  const day = dayHolding(timeline, target) + 1
  return day * DAY > span.from && day * DAY < span.to ? { from: span.from, to: day * DAY } : span
}

/** A stretch as lexemes: any article in it has one of them. Empty for an empty stretch; both bounds must be finite. */
export function spanLexemes(axis: Axis, { from, to }: Span): Expression[] {
  const lexeme = axis === 'published_at' ? LEXEMES.published : LEXEMES.ingested
  return periods(Math.floor(from / DAY), Math.ceil(to / DAY)).map(period => lexemeOf(lexeme(period)))
}

export function noDateLexeme(axis: Axis): Expression {
  return lexemeOf((axis === 'published_at' ? LEXEMES.published : LEXEMES.ingested)(NO_DATE))
}

/** Days from (inclusive) to (exclusive) as whole years, months and days, as few as can be. */
function periods(from: number, to: number): string[] {
  const found: string[] = []
  let day = from
  while (day < to) {
    const date = new Date(day * DAY)
    const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()]
    const text = date.toISOString().slice(0, 10).replaceAll('-', '')
    const nextYear = Date.UTC(year + 1, 0) / DAY
    const nextMonth = Date.UTC(year, month + 1) / DAY
    if (month === 0 && date.getUTCDate() === 1 && nextYear <= to) {
      found.push(text.slice(0, 4))
      day = nextYear
    } else if (date.getUTCDate() === 1 && nextMonth <= to) {
      found.push(text.slice(0, 6))
      day = nextMonth
    } else {
      found.push(text)
      day++
    }
  }
  return found
}

function articlesBefore({ days, before }: Timeline, time: number): number {
  if (time === -Infinity) return 0
  if (time === Infinity) return before[days.length]!
  const day = time / DAY
  const at = firstAtLeast(days, Math.floor(day))
  const whole = before[at]!
  // Within a day, as if spread evenly.
  return days[at] === Math.floor(day) ? whole + (before[at + 1]! - whole) * (day - Math.floor(day)) : whole
}

/** The day in which the article of that rank lies. */
function dayHolding({ days, before }: Timeline, rank: number): number {
  const at = firstAtLeast(before, rank + 1) - 1
  return days[Math.min(Math.max(at, 0), days.length - 1)] ?? 0
}

function firstAtLeast(sorted: Float64Array, value: number): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (sorted[middle]! < value) low = middle + 1
    else high = middle
  }
  return low
}

/** Counts older than this are read again; they serve the choice of stretches only. */
const FRESH = 60_000

const read = new WeakMap<Queryable, { at: number; timelines: Promise<Record<Axis, Timeline>> }>()

/** The number of articles by day, as it was within the last minute. */
export function readTimelines(db: Queryable): Promise<Record<Axis, Timeline>> {
  let present = read.get(db)
  if (present === undefined || present.at + FRESH < Date.now()) {
    present = { at: Date.now(), timelines: readDays(db) }
    read.set(db, present)
    present.timelines.catch(() => read.delete(db))
  }
  return present.timelines
}

async function readDays(db: Queryable): Promise<Record<Axis, Timeline>> {
  const { rows } = await db.query<{ axis: Axis; day: number; articles: number }>(DAYS)
  const timelineOf = (axis: Axis): Timeline => {
    const own = rows.filter(row => row.axis === axis)
    const before = new Float64Array(own.length + 1)
    own.forEach((row, index) => {
      before[index + 1] = before[index]! + row.articles
    })
    return { days: Float64Array.from(own, row => row.day), before }
  }
  return { published_at: timelineOf('published_at'), ingested_at: timelineOf('ingested_at') }
}

const DAYS = `
  select axis, day - date '1970-01-01' as day, articles::float8 as articles
  from article_days order by axis, day`
