/**
 * Lets so many take a turn at a time; keys whose turns took little time come before those that took
 * much.
 */
export interface FairQueue {
  /**
   * Runs `work` when a turn is free.
   * @param key on whose account its time is
   * @throws the signal's reason when it is aborted before the turn came
   */
  take<T>(key: string | number, work: () => Promise<T>, signal?: AbortSignal): Promise<T>
}

/** What one key has had. */
interface Account {
  /** ms; those of a key that comes back after a while begin where the others are. */
  used: number
  /** ms of its last turn, which its next one is expected to take. */
  last: number
  running: number
  /** When it counts as slow no more; monotonic. */
  slowUntil: number
  /** In the order they came. */
  waiting: { begin(): void }[]
}

interface Begun {
  at: number
  expected: number
  isSlow: boolean
}

/** ms; keys whose turns take longer never hold all turns together. */
const SLOW = 2_000
/**
 * So many times as long as its slow turn took, a key counts as slow: short turns between long ones
 * do not hide them.
 */
const REMEMBERED = 30
/** ms that the first turn of a key is expected to take. */
const USUAL = 50

const isSlow = ({ slowUntil }: Account) => performance.now() < slowUntil

/**
 * Fair queuing by time (start-time fair queuing, Goyal et al. 1996): the turn goes to whoever has
 * used least. A key's turns that take 20 seconds come as often as their time allows beside turns of
 * 50 milliseconds, and one turn is always kept from slow keys when there are several.
 */
export function createFairQueue(count: number): FairQueue {
  const accounts = new Map<string | number, Account>()
  let free = count
  let slow = 0
  /** What the last one to begin had used. */
  let level = 0

  const accountOf = (key: string | number): Account => {
    const known = accounts.get(key)
    if (known !== undefined) return known
    const account = { used: level, last: USUAL, running: 0, slowUntil: 0, waiting: [] }
    accounts.set(key, account)
    return account
  }
  const next = (): Account | null => {
    let best: Account | null = null
    for (const account of accounts.values()) {
      if (account.waiting.length === 0) continue
      if (isSlow(account) && count > 1 && slow >= count - 1) continue
      if (best === null || account.used < best.used) best = account
    }
    return best
  }
  const grant = () => {
    while (free > 0) {
      const account = next()
      if (account === null) return
      free -= 1
      account.waiting.shift()?.begin()
    }
  }
  /**
   * Counts a turn before its time is known: the next one to be granted must not be the same key's
   * again.
   */
  const begin = (account: Account): Begun => {
    const begun = { at: performance.now(), expected: account.last, isSlow: isSlow(account) }
    level = account.used
    account.running += 1
    account.used += begun.expected
    if (begun.isSlow) slow += 1
    return begun
  }
  const end = (account: Account, begun: Begun) => {
    account.last = performance.now() - begun.at
    account.used += account.last - begun.expected
    if (account.last > SLOW) account.slowUntil = performance.now() + account.last * REMEMBERED
    account.running -= 1
    if (begun.isSlow) slow -= 1
    free += 1
    grant()
  }
  const turn = (account: Account, signal: AbortSignal | undefined): Promise<Begun> => {
    signal?.throwIfAborted()
    if (account.waiting.length === 0 && account.running === 0) account.used = Math.max(account.used, level)
    return new Promise((resolve, reject) => {
      const giveUp = () => {
        account.waiting.splice(account.waiting.indexOf(waiter), 1)
        reject(signal?.reason)
      }
      const waiter = {
        begin: () => {
          signal?.removeEventListener('abort', giveUp)
          resolve(begin(account))
        },
      }
      account.waiting.push(waiter)
      signal?.addEventListener('abort', giveUp, { once: true })
      grant()
    })
  }
  return {
    async take(key, work, signal) {
      const account = accountOf(key)
      const begun = await turn(account, signal)
      try {
        return await work()
      } finally {
        end(account, begun)
      }
    },
  }
}
