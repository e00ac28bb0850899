import type { Document } from './feeds/document.ts'
import type { ParsedFeed } from './feeds/parsing/parse.ts'
import type { Verdict } from './verdict.ts'

/** Tries of an address that failed, or that had to wait, after which it is lost. */
const MOST_TRIES = { failed: 5, waited: 24 }
/** ms between two looks for what is due. */
export const EVERY = 1_000

/** What a document names. */
export type Listed = Pick<ParsedFeed, 'named' | 'parts' | 'next' | 'whole'>

/**
 * What a try at an address brought. Null: it was interrupted. `away`: the host, whose robots.txt
 * does not answer. The host then waits as a whole, and is lost as a whole.
 */
export type Outcome =
  | { kind: 'fetched'; page?: Extract<Verdict, { kind: 'store' }>; document?: Listed }
  | { kind: 'refused' | 'lost'; reason: string; away?: string | null }
  | { kind: 'failed'; reason: string }
  | { kind: 'waits'; reason: string; wait: number; away?: string | null }
  | null

export function outcomeOfPage(verdict: Verdict): Outcome {
  switch (verdict.kind) {
    case 'store':
      return { kind: 'fetched', page: verdict }
    // A sitemap says too little to make an article of it.
    case 'store without body':
      return { kind: 'refused', reason: verdict.block }
    case 'refuse':
      return { kind: verdict.reason === 'gone' ? 'lost' : 'refused', reason: verdict.reason }
    case 'retry':
      return { kind: verdict.reason === 'gone' ? 'lost' : 'failed', reason: verdict.reason }
    case 'put back':
      return { kind: 'waits', reason: verdict.reason, wait: verdict.wait }
  }
}

/** Failures of a document that may end. */
const FAILS = /^(?:connection|name|time-out|tls|protocol|cut|status (?:5\d\d|429))$/

export function outcomeOfDocument(
  document: Exclude<Document, { kind: 'feed' }> | { kind: 'feed'; feed: Listed },
): Outcome {
  switch (document.kind) {
    case 'interrupted':
      return null
    case 'later':
      return { kind: 'waits', reason: 'host busy', wait: document.wait }
    case 'unchanged':
      return { kind: 'lost', reason: 'status 304' }
    case 'failure': {
      const { reason, wait } = document
      if (reason === 'disallowed') return { kind: 'refused', reason: 'robots' }
      if (reason === 'robots unreachable' || reason === 'held')
        return { kind: 'waits', reason, wait: wait.exactly ?? EVERY }
      return { kind: FAILS.test(reason) ? 'failed' : 'lost', reason }
    }
    case 'feed':
      return { kind: 'fetched', document: document.feed }
  }
}

/** Failures, with this try as one, and tries before it that had to wait. */
export interface Tries {
  attempts: number
  waits: number
}

/** Whether an address may be tried. It may not when its tries have ended processes. */
export const mayBeTried = ({ attempts, waits }: Tries): boolean =>
  attempts <= MOST_TRIES.failed && waits <= MOST_TRIES.waited

/** The last of all tries at an address loses it. */
export function endedBy(outcome: Outcome, { attempts, waits }: Tries): Outcome {
  if (outcome?.kind === 'failed' && attempts >= MOST_TRIES.failed)
    return { kind: 'lost', reason: outcome.reason }
  if (outcome?.kind === 'waits' && outcome.reason !== 'held' && waits + 1 >= MOST_TRIES.waited)
    return { kind: 'lost', reason: outcome.reason, away: outcome.away ?? null }
  return outcome
}

/**
 * When an address is tried again, and how its try counts. Null: it is settled.
 *
 * @param retry CRAWL_RETRY_MIN
 */
export function againAfter(
  outcome: Outcome,
  attempts: number,
  retry: number,
): { pause: number; failed: number; waited: number } | null {
  if (outcome?.kind === 'failed') return { pause: retry * 2 ** attempts, failed: 1, waited: 0 }
  if (outcome !== null && outcome.kind !== 'waits') return null
  // An address on a host that is away stays the first there, and counts the tries at the host.
  const pause = outcome?.away ? 0 : Math.max(EVERY, outcome?.wait ?? 0)
  return { pause, failed: 0, waited: outcome?.reason === 'held' ? 0 : 1 }
}
