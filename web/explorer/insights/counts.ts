import { isRecord } from '../../parts/request.ts'
import { type Search, writeSearch } from '../search/search.ts'

export const TIME_UNITS = ['hour', 'day', 'week', 'month'] as const
export type TimeUnit = (typeof TIME_UNITS)[number]
export type By = TimeUnit | 'outlet' | 'language' | 'country'

/** How many articles of a search have a value. */
export interface Count {
  key: string
  count: number
  /** Of a bucket of time: bounds of the same search. */
  span: { from: string; to: string } | null
  outlet: { name: string | null; domain: string | null } | null
}

export interface Counts {
  total: number
  data: Count[]
  /** Articles of outlets that are not among the first ones. */
  other: number
  /** Articles without a date. */
  undated: number
}

/** The address that counts the articles of a search by something, in the reader's time zone. */
export function countsPath(search: Search, by: By): string {
  // Counts have no order, and count by time of publication.
  const parameters = writeSearch({ ...search, sort: null, order: 'desc' })
  parameters.set('by', by)
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone
  if (isTime(by) && zone) parameters.set('time_zone', zone)
  return `/explore/counts?${parameters}`
}

const isTime = (by: By): by is TimeUnit => TIME_UNITS.some(unit => unit === by)

/** null: these are no counts */
export function readCounts(json: unknown): Counts | null {
  if (!isRecord(json) || !Array.isArray(json.data) || typeof json.total !== 'number') return null
  return {
    total: json.total,
    data: json.data.flatMap(readCount),
    other: typeof json.other === 'number' ? json.other : 0,
    undated: typeof json.undated === 'number' ? json.undated : 0,
  }
}

function readCount(json: unknown): Count[] {
  if (!isRecord(json) || typeof json.key !== 'string' || typeof json.count !== 'number') return []
  const { key, count, from, to, outlet } = json
  const text = (value: unknown) => (typeof value === 'string' ? value : null)
  return [
    {
      key,
      count,
      span: typeof from === 'string' && typeof to === 'string' ? { from, to } : null,
      outlet: isRecord(outlet) ? { name: text(outlet.name), domain: text(outlet.domain) } : null,
    },
  ]
}

const DAY = 86_400_000

/** The unit that draws some ten to a hundred bars over the time that the articles span. */
export function fittingUnit(data: Count[]): TimeUnit {
  const spans = data.filter(({ count }) => count > 0).map(({ span }) => span)
  const first = spans.find(span => span !== null)
  const last = spans.findLast(span => span !== null)
  if (!first || !last) return 'day'
  const days = (Date.parse(last.to) - Date.parse(first.from)) / DAY
  if (days <= 3) return 'hour'
  if (days <= 100) return 'day'
  return days <= 900 ? 'week' : 'month'
}
