import type { VNode } from 'preact'
import { useCallback, useState } from 'preact/hooks'
import type { Count, Counts, Meaning } from '../../../clients/typescript/src/index.ts'
import { Button, useWork } from '../../parts/controls.tsx'
import {
  type Asking,
  ask,
  type Failure,
  hasList,
  isListOf,
  type Outcome,
} from '../../parts/request.ts'
import { type Speech, useSpeech } from '../../words/index.ts'
import { NEW_SEARCH, ONCE, type Search, writeSearch } from '../search/search.ts'

/*
 * Parts of the page that need the same counts of a search share one request (`useCounts`). Buckets
 * of time also say how complete their days are.
 */

type Counted = { counts: Counts | null; failure: Failure | null; isOld: boolean }

const NOTHING: Counted = { counts: null, failure: null, isOld: false }

/** @param search null: nothing to count */
export function useCounts(
  search: Search | null,
  by: By,
  secret: string,
  round: number,
  texts = false,
): Counted {
  const [counted, setCounted] = useState(NOTHING)
  const count = useCallback(
    async (signal: AbortSignal) => {
      if (search === null) return setCounted(NOTHING)
      setCounted(before => ({ ...before, isOld: true }))
      const answer = await askOnce(search, by, secret, round, texts)
      if (!signal.aborted) setCounted(toCounted(answer))
    },
    [search, by, secret, round, texts],
  )
  useWork(count)
  return counted
}

/**
 * Answers to requests for counts, by the search of the results. Two parts of the page that need the
 * same counts share one request.
 */
const asked = new WeakMap<Search, Map<string, Promise<Outcome<Counts>>>>()

function askOnce(
  search: Search,
  by: By,
  secret: string,
  round: number,
  texts: boolean,
): Promise<Outcome<Counts>> {
  const ofSearch = asked.get(search) ?? new Map<string, Promise<Outcome<Counts>>>()
  asked.set(search, ofSearch)
  const name = `${by} ${round} ${texts}`
  const answer = ofSearch.get(name) ?? ask(countsPath(search, by, texts), isCounts, { key: secret })
  ofSearch.set(name, answer)
  return answer
}

/**
 * Counts by time. Without a given unit it first counts by month. The time between the first and the
 * last article then tells which unit fits.
 * @param unit null: the unit that fits
 * @param texts counts each text once
 */
export function useTimeCounts(
  search: Search | null,
  unit: TimeUnit | null,
  secret: string,
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
      const asking = { key: secret, signal }
      setCounted(before => ({ ...before, isOld: true }))
      const first = await ask(countsPath(search, unit ?? 'month', texts), isCounts, asking)
      const of = unit ?? (first.kind === 'ok' ? fittingUnit(first.value.data) : 'month')
      const isFirst = unit !== null || of === 'month' || of === 'year'
      const answer = isFirst ? first : await ask(countsPath(search, of, texts), isCounts, asking)
      setCounted({ ...toCounted(of === 'year' ? byYear(answer) : answer), unit: of })
    },
    [search, unit, secret, round, texts],
  )
  useWork(count)
  return counted
}

function toCounted(answer: Outcome<Counts>): Counted {
  if (answer.kind === 'ok') return { counts: answer.value, failure: null, isOld: false }
  return { counts: null, failure: answer, isOld: false }
}

/**
 * The units of time. The API counts by all of them except years, which this page makes from months.
 */
export const TIME_UNITS = ['hour', 'day', 'week', 'month', 'year'] as const
export type TimeUnit = (typeof TIME_UNITS)[number]
type By = TimeUnit | 'outlet' | 'language' | 'country'

/** The address that counts the articles of a search by `by`, in the reader's time zone. */
export function countsPath(search: Search, by: By, texts: boolean): string {
  // Counts have no order, and count by time of publication.
  const parameters = writeSearch({ ...search, sort: null, order: 'desc' })
  parameters.set('by', by === 'year' ? 'month' : by)
  if (texts) parameters.set(ONCE, 'true')
  // Of the 500 nearest articles, the figures count those that are close.
  if (search.mode === 'semantic') parameters.set('close', 'true')
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone
  if (isTime(by) && zone) parameters.set('time_zone', zone)
  return `/explore/counts?${parameters}`
}

const isTime = (by: By): by is TimeUnit => TIME_UNITS.some(unit => unit === by)

export const isCounts = (json: unknown): json is Counts => hasList(json, 'data')

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

/** Properties that all figures of a search share. */
export interface FigureProps {
  search: Search | null
  secret: string
  /** Increased to count again. */
  round: number
  onChange(change: Partial<Search>): void
  /** Reports a failure to the page, which shows it once for all figures. */
  onFailure(by: string, failure: Failure | null): void
}

/** Says in one line that figures are missing. The results tell the reason at length. */
export function CountFailure({ failure, onAgain }: { failure: Failure; onAgain(): void }): VNode {
  const { words, wait, say } = useSpeech()
  return (
    <p class="hint" role="status">
      {words.insights.failed}{' '}
      {failure.retryAfter !== null &&
        `${say(words.failure.in, { wait: wait(failure.retryAfter) })}. `}
      <Button class="link" onClick={onAgain} text={words.failure.again} />
    </p>
  )
}

/**
 * How many articles a search by meaning can find at present, and of how many. undefined: unknown,
 * or the search has another mode.
 */
export const useMeaning = (search: Search | null, secret: string): Meaning | undefined =>
  useCounts(search?.mode === 'semantic' ? search : null, 'country', secret, 0).counts?.meaning

/**
 * Says how much a search by meaning can find at present. Shows nothing when it can find everything.
 */
export function MeaningLine({ meaning }: { meaning: Meaning | undefined }): VNode | null {
  const { words, say } = useSpeech()
  if (!meaning || meaning.found >= meaning.of) return null
  return <p class="hint">{say(words.insights.meaning, { found: meaning.found, of: meaning.of })}</p>
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
export function useCompleteness(
  search: Search | null,
  data: Count[],
  unit: TimeUnit,
  secret: string,
): Bucket[] {
  const speech = useSpeech()
  const [covered, setCovered] = useState<{ of: Count[]; buckets: Bucket[] } | null>(null)
  const look = useCallback(
    async (signal: AbortSignal) => {
      if (search === null || unit === 'hour') return
      const days = await askDays(
        search,
        data.find(({ count }) => count > 0)?.from,
        data.at(-1)?.to,
        {
          key: secret,
          signal,
        },
      )
      // Without figures of days there is nothing to redraw.
      if (days.length > 0)
        setCovered({
          of: data,
          buckets: data.map(one => bucketOf(one, days, search.outlet, speech)),
        })
    },
    [search, data, unit, secret, speech],
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
    ...(named > 0
      ? [
          say(completeness.have, {
            n: sum('indexed'),
            of: named,
            outlet: outlet || completeness.outlets,
          }),
        ]
      : []),
    ...(once ? [completeness.once] : []),
    ...(unread > 0 ? [say(completeness.unread, { n: unread })] : []),
  ]
  return { ...count, gap: own.some(({ gap }) => gap), have: parts.join(', ') }
}
