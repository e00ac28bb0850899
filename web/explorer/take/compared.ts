import type { Counts } from '#clients/typescript/src/index'
import { csvLine } from '#shared/articles/csv'
import type { CoveredDay } from '#web/explorer/insights/over-time'

/** The figures of a search in a bucket of time. */
interface Point {
  count: number
  /** The number of articles of the same search without its words. */
  all: number
  /** null: no articles at all. */
  share: number | null
  /** How complete the bucket is: the lowest share of its days (UTC). null: unknown. */
  complete: number | null
}

/** A bucket of time, with a point for each search; null: the search has no such bucket. */
export interface Row {
  key: string
  from: string
  to: string
  points: (Point | null)[]
}

/** A point below this share of completeness is hollow. */
const COMPLETE = 0.9

export const isHollow = (point: Point | null): boolean => (point?.complete ?? 1) < COMPLETE

/** One row for each bucket, from the first article of any search to the last one. */
export function rowsOf(
  sets: { own: Pick<Counts, 'data'>; all: Pick<Counts, 'data'>; days: CoveredDay[] }[],
): Row[] {
  const rows = new Map<string, Row>()
  for (const [at, { own, all, days }] of sets.entries()) {
    const alls = new Map(all.data.map(({ key, count }) => [key, count]))
    for (const { key, count, from = '', to = '' } of own.data) {
      const row = rows.get(key) ?? { key, from, to, points: sets.map(() => null) }
      const whole = alls.get(key) ?? 0
      const complete = days.flatMap(({ day, share }) =>
        from.slice(0, 10) <= day && day <= to.slice(0, 10) && share !== null ? [share] : [],
      )
      const known = complete.length > 0 ? Math.min(...complete) : null
      row.points[at] = {
        count,
        all: whole,
        share: whole === 0 ? null : count / whole,
        complete: known,
      }
      rows.set(key, row)
    }
  }
  const sorted = [...rows.values()].sort((a, b) => (a.from < b.from ? -1 : 1))
  const isFilled = ({ points }: Row) => points.some(point => (point?.count ?? 0) > 0)
  const first = sorted.findIndex(isFilled)
  return first < 0 ? [] : sorted.slice(first, sorted.findLastIndex(isFilled) + 1)
}

/**
 * The rows as CSV, with a line for each search and bucket. A search without any figures has a line
 * without figures.
 */
export function csvOf(rows: Row[], labels: string[]): string {
  const written = labels.map(title => csvLine({ title }, ['title']).trimEnd())
  const none = written.filter((_label, at) => rows.every(({ points }) => points[at] === null))
  const lines = rows.flatMap(({ key, from, to, points }) =>
    points.flatMap((point, at) => {
      if (point === null) return []
      const { count, all, share, complete } = point
      return [
        written[at],
        key,
        from,
        to,
        count,
        all,
        share?.toFixed(6) ?? '',
        complete?.toFixed(3) ?? '',
      ].join(',')
    }),
  )
  const head = 'search,time,from,to,count,all,share,complete'
  return [head, ...lines, ...none.map(label => `${label},,,,,,,`), ''].join('\r\n')
}
