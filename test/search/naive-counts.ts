import type { Stated } from '#search/types'
import type { Known } from './oracle.ts'

/*
 * How articles are counted by time, outlet, language and country, written down as slowly as it
 * reads. It shares nothing with what it tests.
 */

export type NaiveBreakdown =
  | 'hour'
  | 'day'
  | 'week'
  | 'month'
  | 'outlet'
  | 'language'
  | 'country'
  | keyof Stated

/**
 * Counts by key, only those above 0; `undated`: articles that have no time, or of which the outlet
 * says nothing.
 */
export function naiveCounts(
  articles: Known[],
  by: NaiveBreakdown,
  axis: 'publishedAt' | 'ingestedAt',
  timeZone: string,
): { counts: Map<string, number>; undated: number } {
  const counts = new Map<string, number>()
  let undated = 0
  for (const article of articles) {
    const key = keyOf(article, by, article[axis], timeZone)
    if (key === null) undated++
    else counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  return { counts, undated }
}

function keyOf(
  article: Known,
  by: NaiveBreakdown,
  time: Date | null,
  timeZone: string,
): string | null {
  switch (by) {
    case 'outlet':
      return JSON.stringify([article.outlet.name, article.outlet.domain])
    case 'language':
      return article.language
    case 'country':
      return article.country
    case 'section':
      return article.stated?.section?.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase() ?? null
    case 'kind':
    case 'access':
      return article.stated?.[by] ?? null
    default:
      return time === null ? null : timeKey(time, by, timeZone)
  }
}

/** The bucket that a time lies in, by the clocks of a zone. */
function timeKey(time: Date, by: 'hour' | 'day' | 'week' | 'month', timeZone: string): string {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    hourCycle: 'h23',
    timeZoneName: 'longOffset',
  })
  const part = Object.fromEntries(
    format.formatToParts(time).map(({ type, value }) => [type, value]),
  )
  const day = `${part.year}-${part.month}-${part.day}`
  if (by === 'day') return day
  if (by === 'month') return day.slice(0, 7)
  if (by === 'week') return isoWeek(day)
  const offset = part.timeZoneName!.slice(3)
  return `${day}T${part.hour}:00:00${offset === '' || offset === '+00:00' ? 'Z' : offset}`
}

/** Week 1 is the week of 4 January (ISO 8601); days are counted one by one. */
function isoWeek(day: string): string {
  const date = new Date(`${day}T00:00:00Z`)
  const weekday = (one: Date) => (one.getUTCDay() + 6) % 7
  const step = (one: Date, days: number) => new Date(one.getTime() + days * 86_400_000)
  const monday = step(date, -weekday(date))
  for (const year of [
    date.getUTCFullYear() + 1,
    date.getUTCFullYear(),
    date.getUTCFullYear() - 1,
  ]) {
    const fourth = new Date(Date.UTC(year, 0, 4))
    let first = step(fourth, -weekday(fourth))
    if (first > monday) continue
    let week = 1
    for (; first < monday; first = step(first, 7)) week++
    return `${year}-W${String(week).padStart(2, '0')}`
  }
  throw new Error('no year has this week')
}
