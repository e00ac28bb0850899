/**
 * Publication times. The texts hold them as local times of the outlet. The sites serve them in the
 * many forms of real sites.
 */

import type { Language } from '../../../shared/articles/article.ts'

interface WallClock {
  year: number
  month: number
  day: number
  hour: number
  minute: number
}

function wallClockOf(instant: Date, timeZone: string): WallClock {
  const parts = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    hourCycle: 'h23',
  }).formatToParts(instant)
  const field = (type: Intl.DateTimeFormatPartTypes) => Number(parts.find(part => part.type === type)?.value)
  return {
    year: field('year'),
    month: field('month'),
    day: field('day'),
    hour: field('hour'),
    minute: field('minute'),
  }
}

/** The minutes by which the zone is ahead of UTC at that instant. */
function offsetMinutes(instant: Date, timeZone: string): number {
  const clock = wallClockOf(instant, timeZone)
  const asUtc = Date.UTC(clock.year, clock.month - 1, clock.day, clock.hour, clock.minute)
  return Math.round((asUtc - Math.floor(instant.getTime() / 60_000) * 60_000) / 60_000)
}

/**
 * The instant of a local time (`2026-11-03 14:05`) in `timeZone`. No text uses the hour that is
 * repeated in autumn.
 * @throws when the time is written in another way
 */
export function instantOf(local: string, timeZone: string): Date {
  if (!/^\d{4}-\d\d-\d\d \d\d:\d\d$/.test(local)) {
    throw new Error(`The time "${local}" is not written as 2026-11-03 14:05.`)
  }
  const guess = new Date(`${local.replace(' ', 'T')}:00Z`)
  const shifted = new Date(guess.getTime() - offsetMinutes(guess, timeZone) * 60_000)
  return new Date(guess.getTime() - offsetMinutes(shifted, timeZone) * 60_000)
}

const two = (value: number) => String(value).padStart(2, '0')

/** `2026-11-03T14:05:00+01:00` (RFC 3339). */
export function withOffset(instant: Date, timeZone: string): string {
  const offset = offsetMinutes(instant, timeZone)
  const zone = `+${two(Math.floor(offset / 60))}:${two(offset % 60)}`
  return `${withoutOffset(instant, timeZone).replace(' ', 'T')}${zone}`
}

/** `2026-11-03 14:05:00`, without a zone, as some systems write it. */
function withoutOffset(instant: Date, timeZone: string): string {
  const { year, month, day, hour, minute } = wallClockOf(instant, timeZone)
  return `${year}-${two(month)}-${two(day)} ${two(hour)}:${two(minute)}:00`
}

/** `Tue, 03 Nov 2026 14:05:00 +0100` (RFC 822 with a four-digit year, as RSS asks). */
export function rfc822(instant: Date, timeZone: string): string {
  const local = new Date(`${withoutOffset(instant, timeZone).replace(' ', 'T')}Z`)
  const zone = withOffset(instant, timeZone).slice(-6).replace(':', '')
  return local.toUTCString().replace('GMT', zone)
}

const WORDS: Record<Language, (day: number, month: string, year: number, hour: string, minute: string) => string> = {
  nl: (day, month, year, hour, minute) => `Gepubliceerd op ${day} ${month} ${year}, ${hour}.${minute} uur`,
  fr: (day, month, year, hour, minute) => `Publié le ${day} ${month} ${year} à ${hour}h${minute}`,
  de: (day, month, year, hour, minute) => `Veröffentlicht am ${day}. ${month} ${year}, ${hour}.${minute} Uhr`,
  lb: (day, month, year, hour, minute) => `Publizéiert den ${day}. ${month} ${year} um ${hour}:${minute} Auer`,
  en: (day, month, year, hour, minute) => `Published ${day} ${month} ${year}, ${hour}:${minute}`,
}

/** `Gepubliceerd op 3 november 2026, 14.05 uur`, and the same in the other languages. */
export function inWords(instant: Date, timeZone: string, language: Language): string {
  const { year, day, hour, minute } = wallClockOf(instant, timeZone)
  const month = new Intl.DateTimeFormat(language, { timeZone, month: 'long' }).format(instant)
  return WORDS[language](day, month, year, two(hour), two(minute))
}
