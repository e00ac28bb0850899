import { useEffect, useState } from 'preact/hooks'
import { ask, type Failure, type Outcome } from '../../parts/request.ts'
import type { Search } from '../search/search.ts'
import { type By, type Counts, countsPath, fittingUnit, readCounts, type TimeUnit } from './counts.ts'

export type Counted = { counts: Counts | null; failure: Failure | null; isOld: boolean }

const NOTHING: Counted = { counts: null, failure: null, isOld: false }

/** @param search null: nothing is to be counted now */
export function useCounts(search: Search | null, by: By, secret: string, round: number): Counted {
  const [counted, setCounted] = useState(NOTHING)
  useEffect(() => {
    if (search === null) return setCounted(NOTHING)
    void round // asks the same again
    const end = new AbortController()
    setCounted(before => ({ ...before, isOld: true }))
    ask(countsPath(search, by), readCounts, { key: secret, signal: end.signal }).then(
      answer => setCounted(toCounted(answer)),
      () => {
        // Another search has taken its place.
      },
    )
    return () => end.abort()
  }, [search, by, secret, round])
  return counted
}

/**
 * Counts by time, in a unit that fits: the months tell how long the time is.
 * @param unit null: the one that fits
 */
export function useTimeCounts(
  search: Search | null,
  unit: TimeUnit | null,
  secret: string,
  round: number,
): Counted & { unit: TimeUnit } {
  const [counted, setCounted] = useState<Counted & { unit: TimeUnit }>({ ...NOTHING, unit: 'month' })
  useEffect(() => {
    if (search === null) return setCounted({ ...NOTHING, unit: 'month' })
    void round
    const end = new AbortController()
    const asking = { key: secret, signal: end.signal }
    setCounted(before => ({ ...before, isOld: true }))
    const count = async () => {
      const first = await ask(countsPath(search, unit ?? 'month'), readCounts, asking)
      if (unit !== null || first.kind !== 'ok') return { answer: first, of: unit ?? 'month' }
      const fitting = fittingUnit(first.value.data)
      if (fitting === 'month') return { answer: first, of: fitting }
      return { answer: await ask(countsPath(search, fitting), readCounts, asking), of: fitting }
    }
    count().then(
      ({ answer, of }) => setCounted({ ...toCounted(answer), unit: of }),
      () => {
        // Another search has taken its place.
      },
    )
    return () => end.abort()
  }, [search, unit, secret, round])
  return counted
}

function toCounted(answer: Outcome<Counts>): Counted {
  if (answer.kind === 'ok') return { counts: answer.value, failure: null, isOld: false }
  return { counts: null, failure: answer.kind === 'failure' ? answer : null, isOld: false }
}
