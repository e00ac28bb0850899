import { LRUCache } from 'lru-cache'

/** ms after its last request for which a key counts as asking. */
const ASKS = 5_000
/** ms of work that a key may do without rests, and how many of these it regains in each ms. */
const FREE = 250
const REGAINED = 1 / 4
/** How many times as long as the work the rest is, and the longest rest in ms. */
const BREATH = 3
const LONGEST_BREATH = 2_000

/** Notes which keys ask this process. */
export interface Asking {
  note(key: string): void
  /** Whether no other key has asked lately. */
  isAlone(key: string): boolean
}

export function createAsking(): Asking {
  let latest = { key: '', at: -ASKS }
  let before = latest
  return {
    note(key) {
      if (latest.key !== key) before = latest
      latest = { key, at: performance.now() }
    },
    isAlone(key) {
      const other = latest.key === key ? before : latest
      return performance.now() - other.at >= ASKS
    },
  }
}

/**
 * Shares of a processor, or of a server that answers one question after another. A key that has
 * worked much gets a quarter of the time while another key asks. So work that takes seconds never
 * fills a process, and an answer of the other key does not wait for it again and again.
 */
export interface Shares {
  /**
   * Charges work to a key. The key's pieces of work rest one after another, however many it has.
   *
   * @returns ms until its next work may begin
   */
  charge(key: string, ms: number): number
}

export function createShares(asking: Pick<Asking, 'isAlone'>): Shares {
  const accounts = new LRUCache<string, { spent: number; at: number; next: number }>({
    max: 10_000,
  })
  return {
    charge(key, ms) {
      const now = performance.now()
      const known = accounts.get(key) ?? { spent: 0, at: now, next: now }
      const spent = Math.max(0, known.spent - (now - known.at) * REGAINED) + ms
      const rests = spent >= FREE && !asking.isAlone(key)
      const next = rests ? Math.max(now, known.next) + Math.min(BREATH * ms, LONGEST_BREATH) : now
      accounts.set(key, { spent: Math.min(spent, 2 * FREE), at: now, next })
      return next - now
    },
  }
}
