import { setTimeout as pause } from 'node:timers/promises'
import { type Pace, SHORT_TURN } from '#search/index'
import type { Shares } from './shares.ts'

/**
 * Turns of keys on the event loop of this process. Between two looks at the network, the searches
 * of one key work for about `SHORT_TURN` ms. Keys follow each other, however many searches each of
 * them has open. So a key waits for one short turn of each other key, and never for all its work. A
 * key that has worked much rests after its turns, by its share.
 */
export interface Turns {
  /** The pace of a search. A search that nobody waits for ends at its next rest. */
  paceOf(key: string, leaves: AbortSignal): Pace
  /** Charges the time of a statement, and lets the key rest by its share. */
  charge(key: string, ms: number, leaves: AbortSignal): Promise<void>
  /**
   * Waits until a search of the key may begin. Many short searches may come at the same moment, and
   * none of them rests.
   */
  begin(key: string): Promise<void>
}

/** The most ms that one turn is charged: it may have waited for Postgres, too. */
const LONGEST_TURN = 10

export function createTurns(shares: Shares): Turns {
  /** Searches that wait, by key. The next turn belongs to the first key. */
  const lines = new Map<string, (() => void)[]>()
  /** When the first search since the last look at the network began; null: none has. */
  let begun: number | null = null

  function resumeNext(): void {
    const [first] = lines
    if (first === undefined) return
    const [key, line] = first
    lines.delete(key)
    const resume = line.shift()
    if (line.length > 0) lines.set(key, line)
    if (lines.size > 0) setImmediate(resumeNext)
    noteBegin()
    resume?.()
  }

  function noteBegin(): void {
    begun = performance.now()
    setImmediate(() => {
      begun = null
    })
  }

  const wait = (key: string) =>
    new Promise<void>(resolve => {
      if (lines.size === 0) setImmediate(resumeNext)
      const line = lines.get(key)
      if (line === undefined) lines.set(key, [resolve])
      else line.push(resolve)
    })

  async function charge(key: string, ms: number, leaves: AbortSignal): Promise<void> {
    const rest = shares.charge(key, ms)
    if (rest >= 1) await pause(rest, undefined, { signal: leaves }).catch(() => {})
  }
  return {
    charge,
    paceOf(key, leaves) {
      let start = performance.now()
      const worked = () => performance.now() - start
      return {
        isDue: () => leaves.aborted || worked() > SHORT_TURN,
        async rest() {
          await charge(key, Math.min(worked(), LONGEST_TURN), leaves)
          await wait(key)
          leaves.throwIfAborted()
          start = performance.now()
        },
      }
    },
    async begin(key) {
      if (begun === null) noteBegin()
      else if (performance.now() - begun > SHORT_TURN) await wait(key)
    },
  }
}
