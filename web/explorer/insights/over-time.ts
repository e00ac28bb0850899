import { useCallback, useState } from 'preact/hooks'
import type { Count, Counts } from '#clients/typescript/src/index'
import { NEW_SEARCH, type Search, writeSearch } from '#web/explorer/search/search'
import { useWork } from '#web/parts/controls.tsx'
import { type Asking, ask, isListOf, type Outcome } from '#web/parts/request'
import { type Speech, useSpeech } from '#web/words/index'
import { type Counted, countsPath, isCounts, NOTHING, type TimeUnit, toCounted } from './counts.tsx'

/*
 * Counts by time, and how complete the days of each bucket are.
 */

/**
 * Counts by time. Without a given unit it first counts by month. The time between the first and the
 * last article then tells which unit fits.
 * @param unit null: the unit that fits
 * @param texts counts each text once
 */
export function useTimeCounts(
  search: Search | null,
  unit: TimeUnit | null,
  round: number,
  texts: boolean,
): Counted & { unit: TimeUnit } {
  const [counted, setCounted] = useState<Counted & { unit: TimeUnit }>({
    ...NOTHING,
    unit: 'month',
  })
  const count = useCallback(
    async (signal: AbortSignal) => {
      if (search === null) return setCounted({ ...NOTHING, unit: 'month' })
      void round
      const asking = { signal }
      setCounted(before => ({ ...before, isOld: true }))
      const first = await askTimeCounts(search, unit ?? 'month', texts, asking)
      const of = unit ?? (first.kind === 'ok' ? fittingUnit(first.value.data) : 'month')
      const isFirst = of === (unit ?? 'month')
      const answer = isFirst ? first : await askTimeCounts(search, of, texts, asking)
      setCounted({ ...toCounted(answer), unit: of })
    },
    [search, unit, round, texts],
  )
  useWork(count)
  return counted
}

export async function askTimeCounts(
  search: Search,
  unit: TimeUnit,
  texts: boolean,
  asking: Asking,
): Promise<Outcome<Counts>> {
  const answer = await ask(countsPath(search, unit, texts), isCounts, asking)
  return unit === 'year' ? byYear(answer) : answer
}

const DAY = 86_400_000

/** The unit that draws some ten to a hundred bars over the time span of the articles. */
function fittingUnit(data: Count[]): TimeUnit {
  const filled = data.filter(({ count }) => count > 0)
  const first = filled[0]?.from
  const last = filled.at(-1)?.to
  if (first === undefined || last === undefined) return 'day'
  const days = (Date.parse(last) - Date.parse(first)) / DAY
  if (days <= 3) return 'hour'
  if (days <= 100) return 'day'
  if (days <= 900) return 'week'
  return days <= 3_000 ? 'month' : 'year'
}

/** Joins months to years: "2026-11" and its neighbours become "2026". */
function byYear(answer: Outcome<Counts>): Outcome<Counts> {
  if (answer.kind !== 'ok') return answer
  const years = new Map<string, Count>()
  for (const month of answer.value.data) {
    const key = month.key.slice(0, 4)
    const year = years.get(key)
    years.set(key, {
      ...month,
      ...(year && { from: year.from }),
      key,
      count: (year?.count ?? 0) + month.count,
    })
  }
  return { ...answer, value: { ...answer.value, data: [...years.values()] } }
}

/** A bucket of time with its completeness. */
export interface Bucket extends Count {
  /** Whether articles that outlets published are missing. */
  gap?: boolean
  /** A sentence such as "we have 312 of 318 that De Dagkoerier named". */
  have?: string
}

/** For one day (UTC): how many of the articles that outlets named are here. */
export interface CoveredDay {
  day: string
  named: number
  indexed: number
  /** null: an outlet had no sitemap, so no second count exists. */
  named_by_sitemaps: number | null
  unread: number
  gap: boolean
  /** `indexed` of `named`; null without a second count. */
  share: number | null
}

const MOST_DAYS = 366 * 86_400_000

/**
 * Adds to each bucket of time how complete its days are. Hours get no such figure, because only
 * days are known.
 */
export function useCompleteness(search: Search | null, data: Count[], unit: TimeUnit): Bucket[] {
  const speech = useSpeech()
  const [covered, setCovered] = useState<{ of: Count[]; buckets: Bucket[] } | null>(null)
  const look = useCallback(
    async (signal: AbortSignal) => {
      if (search === null || unit === 'hour') return
      const first = data.find(({ count }) => count > 0)
      const days = await askDays(search, first?.from, data.at(-1)?.to, { signal })
      // Without figures of days there is nothing to redraw.
      if (days.length > 0)
        setCovered({
          of: data,
          buckets: data.map(one => bucketOf(one, days, search.outlet, speech)),
        })
    },
    [search, data, unit, speech],
  )
  useWork(look)
  return covered?.of === data ? covered.buckets : data
}

/** The completeness of each day in a time. Empty when the time is longer than the API allows. */
export async function askDays(
  { outlet, countries }: Search,
  from: string | undefined,
  to: string | undefined,
  asking: Asking,
): Promise<CoveredDay[]> {
  if (from === undefined || to === undefined || Date.parse(to) - Date.parse(from) >= MOST_DAYS)
    return []
  const asked = writeSearch({
    ...NEW_SEARCH,
    outlet,
    countries,
    publishedAfter: from,
    publishedBefore: to,
  })
  const answer = await ask(`/explore/coverage?${asked}`, isListOf<CoveredDay>, asking)
  return answer.kind === 'ok' ? answer.value.data : []
}

/**
 * A day (in UTC) counts for the bucket with its noon, because buckets are in the reader's time
 * zone.
 */
function bucketOf(
  count: Count,
  days: CoveredDay[],
  outlet: string,
  { words, say }: Speech,
): Bucket {
  const { from = '', to = '' } = count
  const own = days.filter(({ day }) => from <= `${day}T12` && `${day}T12` <= to)
  const sum = (figure: 'named' | 'indexed' | 'unread') =>
    own.reduce((all, day) => all + day[figure], 0)
  const named = sum('named')
  const unread = sum('unread')
  const once = own.some(day => day.named > 0 && day.named_by_sitemaps === null)
  const { completeness } = words.insights
  const parts = [
    named > 0 &&
      say(completeness.have, {
        n: sum('indexed'),
        of: named,
        outlet: outlet || completeness.outlets,
      }),
    once && completeness.once,
    unread > 0 && say(completeness.unread, { n: unread }),
  ]
  return { ...count, gap: own.some(({ gap }) => gap), have: parts.filter(Boolean).join(', ') }
}
