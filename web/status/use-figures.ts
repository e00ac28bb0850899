import { useEffect, useState } from 'preact/hooks'
import type { Figures } from '../../shared/status/figures.ts'
import { ask, type Failure, isRecord } from '../parts/request.ts'

/** What the page knows. */
export interface Watch {
  /** The last that came; null: none yet. */
  figures: Figures | null
  /** When they came, in ms of this browser's clock. */
  readAt: number
  /** Why no newer ones came. */
  failure: Failure | null
}

/** ms between an answer and the next question. */
const EVERY = 3_000

/** Asks for the figures again and again while somebody looks. */
export function useFigures(): Watch {
  const [watch, setWatch] = useState<Watch>({ figures: null, readAt: 0, failure: null })
  useEffect(() => {
    const leaving = new AbortController()
    const see = (outcome: Figures | Failure) =>
      setWatch(last =>
        'kind' in outcome ? { ...last, failure: outcome } : { figures: outcome, readAt: Date.now(), failure: null },
      )
    void askAgainAndAgain(see, leaving.signal)
    return () => leaving.abort()
  }, [])
  return watch
}

async function askAgainAndAgain(see: (outcome: Figures | Failure) => void, signal: AbortSignal): Promise<void> {
  // fetch refuses an address with a name and a password in it, as the page's own may be.
  const address = `${location.origin}/status/figures`
  while (!signal.aborted) {
    if (document.visibilityState === 'visible') {
      const outcome = await ask(address, readFigures, { key: null, signal }).catch(() => null)
      if (outcome?.kind === 'ok') see(outcome.value)
      else if (outcome?.kind === 'failure') see(outcome)
    }
    await pause(signal)
  }
}

/** Ends early when somebody looks again. */
function pause(signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    const over = new AbortController()
    const end = () => {
      over.abort()
      clearTimeout(timer)
      resolve()
    }
    const timer = setTimeout(end, EVERY)
    signal.addEventListener('abort', end, { signal: over.signal })
    document.addEventListener('visibilitychange', () => document.visibilityState === 'visible' && end(), {
      signal: over.signal,
    })
  })
}

/** The API of the same process sends them, so their shape is looked at from outside only. */
const readFigures = (json: unknown): Figures | null => (isFigures(json) ? json : null)

function isFigures(json: unknown): json is Figures {
  if (!isRecord(json) || typeof json.at !== 'string' || typeof json.service !== 'string') return false
  const parts = [json.flow, json.running, json.queues, json.quarantine]
  const lists = [json.outlets, json.lag]
  return (
    parts.every(part => part === null || isRecord(part)) &&
    lists.every(list => list === null || Array.isArray(list)) &&
    Array.isArray(json.missing) &&
    Array.isArray(json.unread)
  )
}
