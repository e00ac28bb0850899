import type { VNode } from 'preact'
import { useCallback, useState } from 'preact/hooks'
import type { Counts, Meaning } from '#clients/typescript/src/index'
import { ONCE, type Search, writeSearch } from '#web/explorer/search/search'
import { Button, useWork } from '#web/parts/controls.tsx'
import { ask, type Failure, hasList, type Outcome } from '#web/parts/request'
import { useSpeech } from '#web/words/index'

/*
 * Parts of the page that need the same counts of a search share one request (`useCounts`). Counts
 * by time stand in `over-time.ts`, which the first view does not have.
 */

export type Counted = { counts: Counts | null; failure: Failure | null; isOld: boolean }

export const NOTHING: Counted = { counts: null, failure: null, isOld: false }

/** @param search null: nothing to count */
export function useCounts(search: Search | null, by: By, round: number, texts = false): Counted {
  const [counted, setCounted] = useState<Counted & { of: Search | null }>({ ...NOTHING, of: null })
  const count = useCallback(
    async (signal: AbortSignal) => {
      if (search === null) return setCounted({ ...NOTHING, of: null })
      setCounted(before => ({ ...before, isOld: true }))
      const answer = await askOnce(search, by, round, texts)
      if (!signal.aborted) setCounted({ ...toCounted(answer), of: search })
    },
    [search, by, round, texts],
  )
  useWork(count)
  return { ...counted, isOld: counted.isOld || counted.of !== search }
}

/**
 * Answers to requests for counts, by the search of the results. Two parts of the page that need the
 * same counts share one request.
 */
const asked = new WeakMap<Search, Map<string, Promise<Outcome<Counts>>>>()

function askOnce(search: Search, by: By, round: number, texts: boolean): Promise<Outcome<Counts>> {
  const ofSearch = asked.get(search) ?? new Map<string, Promise<Outcome<Counts>>>()
  asked.set(search, ofSearch)
  const name = `${by} ${round} ${texts}`
  const answer = ofSearch.get(name) ?? ask(countsPath(search, by, texts), isCounts)
  ofSearch.set(name, answer)
  return answer
}

export function toCounted(answer: Outcome<Counts>): Counted {
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

/** Properties that all figures of a search share. */
export interface FigureProps {
  search: Search | null
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
 * or the search has another mode. Old: it is of the search before.
 */
export function useMeaning(search: Search | null): {
  meaning: Meaning | undefined
  isOld: boolean
} {
  const asked = search?.mode === 'semantic' ? search : null
  const { counts, isOld } = useCounts(asked, 'country', 0)
  return { meaning: isOld ? undefined : counts?.meaning, isOld: asked !== null && isOld }
}

/**
 * Says in a sentence how many articles of a search by meaning are close. Shows nothing where that
 * is not known.
 */
export function CloseLine(props: { search: Search; sentence: string }): VNode | null {
  const { say } = useSpeech()
  const close = useMeaning(props.search).meaning?.close ?? null
  return close === null ? null : <p class="hint">{say(props.sentence, { close })}</p>
}

/**
 * Says how much a search by meaning can find at present. Shows nothing when it can find everything.
 */
export function MeaningLine({ meaning }: { meaning: Meaning | undefined }): VNode | null {
  const { words, say } = useSpeech()
  if (!meaning || meaning.found >= meaning.of) return null
  return <p class="hint">{say(words.insights.meaning, { found: meaning.found, of: meaning.of })}</p>
}
