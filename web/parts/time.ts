import type { Speech } from '#web/words/index'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** "5 minutes ago"; the day itself when it is more than a week ago, or in the future. */
export function ago(at: Date, now: number, { ago, date }: Speech): string {
  const past = now - at.getTime()
  if (past < -MINUTE || past > 7 * DAY) return date(at, 'day')
  if (past < HOUR) return ago(Math.max(0, Math.floor(past / MINUTE)), 'minute')
  return past < DAY ? ago(Math.floor(past / HOUR), 'hour') : ago(Math.floor(past / DAY), 'day')
}

/*
 * Days of the reader's calendar. The API reads a bare day as a day in UTC. So a chosen day is sent
 * as two moments: its beginning and its end in the reader's time zone.
 */

/** The day of a bound, for a date field; empty without a bound. A bare day stays itself. */
export function dayOf(bound: string): string {
  if (/^\d{4}-\d{2}-\d{2}$/.test(bound)) return bound
  const at = new Date(bound)
  return bound === '' || Number.isNaN(at.getTime()) ? '' : localDay(at)
}

/** The day as `2026-11-03`, because Swedish dates have the form of ISO 8601. */
export const localDay = (at: Date): string => at.toLocaleDateString('sv')

/** The moment at which a day begins; an empty text for an empty day. */
export function beginOf(day: string): string {
  const at = parsed(day)
  return at === null ? '' : iso(at)
}

/** The last moment of a day. Bounds include their own moment. */
export function endOf(day: string): string {
  const at = parsed(day)
  if (at === null) return ''
  at.setDate(at.getDate() + 1)
  return iso(new Date(at.getTime() - 1))
}

/** The day `days` days before `now`. */
export function daysBefore(now: Date, days: number): string {
  return localDay(new Date(now.getFullYear(), now.getMonth(), now.getDate() - days))
}

function parsed(day: string): Date | null {
  const at = new Date(`${day}T00:00:00`)
  return Number.isNaN(at.getTime()) ? null : at
}

const iso = (at: Date) => at.toISOString().replace('.000Z', 'Z')

/** @throws the signal's reason when it aborts */
export function rest(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted()
    const late = setTimeout(resolve, ms)
    const end = () => {
      clearTimeout(late)
      reject(signal.reason)
    }
    signal.addEventListener('abort', end, { once: true })
  })
}

/** Resolves when the tab is visible, so that a hidden tab requests nothing. */
export function whenSeen(signal: AbortSignal): Promise<void> {
  if (!document.hidden) return Promise.resolve()
  return new Promise((resolve, reject) => {
    const look = () => !document.hidden && resolve()
    document.addEventListener('visibilitychange', look, { signal })
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}
