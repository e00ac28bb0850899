import { useCallback, useState } from 'preact/hooks'
import type { Count } from '../../../clients/typescript/src/contract.ts'
import { useWork } from '../../parts/controls.tsx'
import { ask, hasList } from '../../parts/request.ts'
import { type Speech, useSpeech } from '../../words/index.ts'
import { NEW_SEARCH, type Search, writeSearch } from '../search/search.ts'
import type { TimeUnit } from './counts.tsx'

/** A bucket of time with what is known of its coverage. */
export interface Bucket extends Count {
  /** Articles are missing that were written. */
  gap?: boolean
  /** "we have 312 of 318 that De Dagkoerier named" */
  have?: string
}

/** How much of what outlets named is here, of one day (UTC). */
export interface CoveredDay {
  day: string
  named: number
  indexed: number
  /** Null: nobody counted a second time. */
  named_by_sitemaps: number | null
  unread: number
  gap: boolean
  /** `indexed` of `named`; null: nobody counted a second time. */
  share: number | null
}

export const MOST_DAYS = 366 * 86_400_000

/** Adds their coverage to buckets of time; none by the hour, because days are counted. */
export function useCoverage(search: Search | null, data: Count[], unit: TimeUnit, secret: string): Bucket[] {
  const speech = useSpeech()
  const [covered, setCovered] = useState<{ of: Count[]; buckets: Bucket[] } | null>(null)
  const look = useCallback(
    async (signal: AbortSignal) => {
      const publishedAfter = data.find(({ count }) => count > 0)?.from
      const publishedBefore = data.at(-1)?.to
      if (search === null || unit === 'hour' || publishedAfter === undefined || publishedBefore === undefined) return
      if (Date.parse(publishedBefore) - Date.parse(publishedAfter) >= MOST_DAYS) return
      const { outlet, countries } = search
      const parameters = writeSearch({ ...NEW_SEARCH, outlet, countries, publishedAfter, publishedBefore })
      const answer = await ask(`/explore/coverage?${parameters}`, isCoverage, { key: secret, signal })
      // Without news there is nothing to draw again.
      if (answer.kind !== 'ok' || answer.value.data.length === 0) return
      setCovered({ of: data, buckets: data.map(one => bucketOf(one, answer.value.data, outlet, speech)) })
    },
    [search, data, unit, secret, speech],
  )
  useWork(look)
  return covered?.of === data ? covered.buckets : data
}

export const isCoverage = (json: unknown): json is { data: CoveredDay[] } => hasList(json, 'data')

/** A day counts for the bucket that holds its noon: readers live in several time zones. */
function bucketOf(count: Count, days: CoveredDay[], outlet: string, { words, number }: Speech): Bucket {
  const { from = '', to = '' } = count
  const own = days.filter(({ day }) => from <= `${day}T12` && `${day}T12` <= to)
  const sum = (figure: 'named' | 'indexed' | 'unread') => own.reduce((all, day) => all + day[figure], 0)
  const [named, unread] = [sum('named'), sum('unread')]
  const once = own.some(day => day.named > 0 && day.named_by_sitemaps === null)
  const { coverage } = words.insights
  const parts = [
    ...(named > 0 ? [coverage.have(number(sum('indexed')), number(named), outlet)] : []),
    ...(once ? [coverage.once] : []),
    ...(unread > 0 ? [coverage.unread(number(unread))] : []),
  ]
  return { ...count, gap: own.some(({ gap }) => gap), have: parts.join(', ') }
}
