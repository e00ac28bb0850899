import { type Waiter, waitInLine } from '#shared/resilience/semaphore'

/** The turns of one key: their cost so far, how many run, and those that wait. */
interface Account {
  /**
   * ms that the key was charged. A key that returns after a while begins at the level of the
   * others.
   */
  used: number
  /** ms of its last turn. Its next turn is expected to take as long. */
  last: number
  running: number
  /** The time on the clock of `performance` at which the key stops counting as slow. */
  slowUntil: number
  line: Waiter<Turn>[]
}

/** A running turn. */
interface Turn {
  account: Account
  at: number
  expected: number
  isSlow: boolean
}

/** In ms. Keys whose turns take longer than this never hold all turns at the same time. */
const SLOW = 2_000
/**
 * A key counts as slow for this many times the length of its slow turn. So short turns between long
 * ones do not hide that the key is slow.
 */
const REMEMBERED = 30
/** How many ms the first turn of a key is expected to take. */
const USUAL = 50

export interface FairQueue {
  /**
   * Runs `work` when a turn is free.
   *
   * @param key the key that is charged for the time
   * @throws the signal's reason if the signal is aborted before the turn begins
   */
  take<T>(key: string | number, work: () => Promise<T>, signal?: AbortSignal): Promise<T>
}

/**
 * Limits how many turns run at a time. Keys whose turns took little time come before keys whose
 * turns took much.
 *
 * This is fair queuing by time (start-time fair queuing, Goyal et al. 1996): the next turn goes to
 * the waiting key that has used the least time. A key with turns of 20 seconds gets no more time
 * than a key with turns of 50 milliseconds. If `count` is more than 1, slow keys together hold at
 * most `count` − 1 turns.
 *
 * @param count turns at a time
 */
export function createFairQueue(count: number): FairQueue {
  let free = count
  /** Running turns of slow keys. */
  let slow = 0
  /** The `used` of the key whose turn began last, before that turn was charged. */
  let level = 0
  const accounts = new Map<string | number, Account>()

  /** Finds or makes the account of a key that wants a turn. */
  function openAccount(key: string | number): Account {
    const account = accounts.get(key) ?? {
      used: level,
      last: USUAL,
      running: 0,
      slowUntil: 0,
      line: [],
    }
    accounts.set(key, account)
    if (account.line.length === 0 && account.running === 0)
      account.used = Math.max(account.used, level)
    return account
  }

  /** Begins turns while a turn is free and a waiting key may have it. */
  function beginTurns(): void {
    while (free > 0) {
      const account = nextAccount()
      const waiter = account?.line.shift()
      if (account === null || waiter === undefined) return
      waiter.begin(beginTurn(account))
    }
  }

  function nextAccount(): Account | null {
    const isSlowFull = count > 1 && slow >= count - 1
    let best: Account | null = null
    for (const account of accounts.values()) {
      if (account.line.length === 0 || (isSlowFull && isSlow(account))) continue
      if (best === null || account.used < best.used) best = account
    }
    return best
  }

  /**
   * Charges the key the expected time, because the real time is not known yet. Otherwise the same
   * key would get the next turn too.
   */
  function beginTurn(account: Account): Turn {
    const turn = { account, at: performance.now(), expected: account.last, isSlow: isSlow(account) }
    free -= 1
    level = account.used
    account.running += 1
    account.used += turn.expected
    if (turn.isSlow) slow += 1
    return turn
  }

  function endTurn({ account, at, expected, isSlow }: Turn): void {
    account.last = performance.now() - at
    account.used += account.last - expected
    if (account.last > SLOW) account.slowUntil = performance.now() + account.last * REMEMBERED
    account.running -= 1
    if (isSlow) slow -= 1
    free += 1
    beginTurns()
  }

  return {
    async take<T>(key: string | number, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
      signal?.throwIfAborted()
      const { line } = openAccount(key)
      const beginning = waitInLine(line, signal)
      beginTurns()
      const turn = await beginning
      try {
        return await work()
      } finally {
        endTurn(turn)
      }
    },
  }
}

const isSlow = ({ slowUntil }: Account) => performance.now() < slowUntil
