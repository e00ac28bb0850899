import type { Speech } from '../../words/index.ts'
import type { Count, TimeUnit } from './counts.ts'

/** A bucket of time in words, as a table names it. */
export function spanText({ key, span }: Count, unit: TimeUnit, { date }: Speech): string {
  if (span === null) return key
  const from = new Date(span.from)
  switch (unit) {
    case 'hour':
      return date(from, 'hour')
    case 'day':
      return date(from, 'day')
    case 'week':
      return `${date(from, 'day')} – ${date(new Date(span.to), 'day')}`
    case 'month':
      return date(from, 'month')
  }
}

/** A bucket of time on the axis. */
export function tickText(at: Date, unit: TimeUnit, { date }: Speech): string {
  if (unit === 'hour') return date(at, 'clock')
  return date(at, unit === 'month' ? 'shortMonth' : 'shortDay')
}
