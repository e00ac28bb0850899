import { useEffect, useState } from 'preact/hooks'
import type { Figures } from '../../shared/status/figures.ts'
import { ask, type Failure, isRecord } from '../parts/request.ts'
import { rest, whenSeen } from '../parts/time.ts'

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
    askAgainAndAgain(see, leaving.signal).catch(() => {}) // the page is closed
    return () => leaving.abort()
  }, [])
  return watch
}

async function askAgainAndAgain(see: (outcome: Figures | Failure) => void, signal: AbortSignal): Promise<void> {
  // fetch refuses an address with a name and a password in it, as the page's own may be.
  const address = `${location.origin}/status/figures`
  for (;;) {
    await whenSeen(signal)
    const outcome = await ask(address, isFigures, { key: null, signal })
    if (outcome.kind === 'ok') see(outcome.value)
    else if (outcome.kind === 'failure') see(outcome)
    await rest(EVERY, signal)
  }
}

const isFigures = (json: unknown): json is Figures => isRecord(json) && typeof json.service === 'string'
