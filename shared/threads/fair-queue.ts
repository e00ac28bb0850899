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

interface FairQueueState {
  /** How many turns run at a time. */
  count: number
  free: number
  /** Running turns of slow keys. */
  slow: number
  /** The `used` of the key whose turn began last, before that turn was charged. */
  level: number
  accounts: Map<string | number, Account>
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
  const state: FairQueueState = { count, free: count, slow: 0, level: 0, accounts: new Map() }
  return {
    async take<T>(key: string | number, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
      signal?.throwIfAborted()
      const { line } = openAccount(state, key)
      const beginning = waitInLine(line, signal)
      beginTurns(state)
      const turn = await beginning
      try {
        return await work()
      } finally {
        endTurn(state, turn)
      }
    },
  }
}

/** Finds or makes the account of a key that wants a turn. */
function openAccount(state: FairQueueState, key: string | number): Account {
  const known = state.accounts.get(key)
  const account = known ?? { used: state.level, last: USUAL, running: 0, slowUntil: 0, line: [] }
  if (known === undefined) state.accounts.set(key, account)
  if (account.line.length === 0 && account.running === 0)
    account.used = Math.max(account.used, state.level)
  return account
}

/** Begins turns while a turn is free and a waiting key may have it. */
function beginTurns(state: FairQueueState): void {
  while (state.free > 0) {
    const account = nextAccount(state)
    const waiter = account?.line.shift()
    if (account === null || waiter === undefined) return
    waiter.begin(beginTurn(state, account))
  }
}

function nextAccount({ accounts, count, slow }: FairQueueState): Account | null {
  const isSlowFull = count > 1 && slow >= count - 1
  let best: Account | null = null
  for (const account of accounts.values()) {
    if (account.line.length === 0 || (isSlowFull && isSlow(account))) continue
    if (best === null || account.used < best.used) best = account
  }
  return best
}

const isSlow = ({ slowUntil }: Account) => performance.now() < slowUntil

/**
 * Charges the key the expected time, because the real time is not known yet. Otherwise the same key
 * would get the next turn too.
 */
function beginTurn(state: FairQueueState, account: Account): Turn {
  const turn = { account, at: performance.now(), expected: account.last, isSlow: isSlow(account) }
  state.free -= 1
  state.level = account.used
  account.running += 1
  account.used += turn.expected
  if (turn.isSlow) state.slow += 1
  return turn
}

function endTurn(state: FairQueueState, turn: Turn): void {
  const { account } = turn
  account.last = performance.now() - turn.at
  account.used += account.last - turn.expected
  if (account.last > SLOW) account.slowUntil = performance.now() + account.last * REMEMBERED
  account.running -= 1
  if (turn.isSlow) state.slow -= 1
  state.free += 1
  beginTurns(state)
}
