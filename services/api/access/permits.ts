import type { Config } from '#shared/config/config'
import type { Shares } from './shares.ts'

/** Permits by name: limits how much work of one name is under way at a time. */
export interface Permits {
  /**
   * Runs the work as soon as fewer than `atOnce` pieces of work of this name run. Callers of one
   * name are served in the order of their calls.
   * @param leaves aborts when the caller leaves. A caller that waits then gets `NoPermit`, and its
   * work does not begin
   * @throws NoPermit when the caller would wait for too long, or too many wait already; errors of
   * `work` unchanged
   */
  take<T>(name: string, work: () => Promise<T>, leaves?: AbortSignal): Promise<T>
}

/** The caller got no permit, so its work has not begun. */
export class NoPermit extends Error {
  override name = 'NoPermit'
}

interface PermitLimits {
  /** Pieces of work of one name under way at a time. */
  atOnce: number
  /**
   * Pieces of work of all names under way at a time. Names that wait for these take turns; absent:
   * names never wait for each other.
   */
  together?: number
  /** What the work of a name is charged to: its permit rests afterwards, as long as they say. */
  shares?: Shares
  /** The most ms of a piece of work that are charged, where it charges the rest itself. */
  charged?: number
  /** Callers of one name that may wait. */
  waiting: number
  /** ms that a caller waits at most. */
  patience: number
}

/**
 * Makes permits for this process. A name takes memory only while callers hold its permits or wait.
 */
export function createPermits(limits: PermitLimits): Permits {
  const { atOnce, waiting, patience, together, shares, charged = Infinity } = limits
  const lines = new Map<string, Line>()
  let left = together ?? Infinity

  /** Hands a free permit to the first caller of a name. */
  function serve(line: Line): boolean {
    const [next] = line.callers
    if (next === undefined || line.free === 0 || left === 0) return false
    line.free--
    left--
    next()
    return true
  }
  function serveNext(name: string, own: Line): void {
    if (together === undefined) return void serve(own)
    if (own.callers.size > 0) {
      // The name has had its turn, so it goes behind all others.
      lines.delete(name)
      lines.set(name, own)
    }
    for (const line of lines.values()) if (serve(line)) return
  }
  return {
    async take(name, work, leaves) {
      if (leaves?.aborted) throw new NoPermit('The caller has left.')
      const line = lines.get(name) ?? { free: atOnce, working: 0, callers: new Set() }
      const isFree = line.free > 0 && left > 0
      if (!isFree && line.callers.size >= waiting) throw new NoPermit('Too many wait for a permit.')
      lines.set(name, line)
      const forget = () => {
        if (line.free === atOnce && line.callers.size === 0) lines.delete(name)
      }
      if (isFree) {
        line.free--
        left--
      } else {
        await waitAmong(line.callers, patience, leaves).catch(error => {
          forget()
          throw error
        })
      }
      const begun = performance.now()
      line.working++
      try {
        return await work()
      } finally {
        // The shared place is free at once: only the name's own place rests. Work that ran beside
        // other work of its name has shared its time with it.
        left++
        const took = Math.min((performance.now() - begun) / line.working--, charged)
        const rest = shares?.charge(name, took) ?? 0
        const release = () => {
          line.free++
          serveNext(name, line)
          forget()
        }
        if (rest < 1) release()
        else {
          serveNext(name, line)
          setTimeout(release, rest).unref()
        }
      }
    },
  }
}

interface Line {
  free: number
  working: number
  callers: Set<Caller>
}

/** Ends the wait of a caller: with a permit, or with the reason why it gets none. */
type Caller = (refusal?: string) => void

/**
 * Waits until a permit is handed over. Almost every request of a busy key waits here, and a timer
 * takes far less time than a signal with a time limit.
 *
 * @throws NoPermit
 */
const waitAmong = (callers: Set<Caller>, patience: number, leaves?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const end: Caller = refusal => {
      clearTimeout(late)
      leaves?.removeEventListener('abort', leave)
      callers.delete(end)
      if (refusal === undefined) resolve()
      else reject(new NoPermit(refusal))
    }
    const leave = () => end('The caller has left.')
    const late = setTimeout(end, patience, 'No permit came in time.').unref()
    leaves?.addEventListener('abort', leave)
    callers.add(end)
  })

/** ms that a statement of a stranger waits at most. */
const STRANGER_PATIENCE = 2_000

/**
 * Permits for the statements of requests whose key or token this process has not admitted lately.
 * Anybody can send thousands of such requests at once. All of them together take at most a quarter
 * of the connections. One address takes at most two connections to look for keys, two for locks and
 * two for failures.
 */
export function createStrangerPermits({ DATABASE_POOL }: Pick<Config, 'DATABASE_POOL'>): Permits {
  const limits = { waiting: WAITING, patience: STRANGER_PATIENCE }
  const together = Math.max(1, Math.floor(DATABASE_POOL / 4))
  const ofAddress = createPermits({ atOnce: Math.max(1, Math.min(2, together - 1)), ...limits })
  const ofAll = createPermits({ atOnce: together, ...limits })
  return {
    take(address, work) {
      const late = AbortSignal.timeout(STRANGER_PATIENCE)
      return ofAddress.take(address, () => ofAll.take('all', work, late), late)
    },
  }
}

/**
 * Connections that one search uses at the same time, at most: for fresh articles, and for columns
 * and lists of segments.
 */
const CONNECTIONS = 3
/**
 * The most callers of one name that may wait. The rate of a key's plan is usually lower than this,
 * and then limits its searches first.
 */
const WAITING = 1_000
/** The most callers of one token, key or feed that may wait: far more than real clients send. */
const COUNTING = 100_000

/**
 * Each search needs a permit of its key. The searches of one key take at most three quarters of the
 * pool, so slow searches of one client leave connections for others. The searches of all keys
 * together are not more than the connections, and keys that wait for these take turns. A search
 * waits for its permit three times as long as a statement may run, because searches rest.
 */
export function createSearchPermits({
  DATABASE_POOL,
  SEARCH_TIMEOUT,
}: SearchPermitSettings): Permits {
  const atOnce = Math.max(1, Math.floor((DATABASE_POOL * 3) / 4 / CONNECTIONS))
  const limits = { waiting: WAITING, patience: 3 * SEARCH_TIMEOUT }
  return createPermits({ atOnce, together: DATABASE_POOL, ...limits })
}

/**
 * How many questions of one key the model and the vector store answer at a time. Such a question
 * holds no connection to Postgres, so the size of the pool does not limit it. More questions of one
 * key would only queue in the model, ahead of the questions of other keys.
 */
const QUESTIONS = 4
/** The questions of all keys together. Keys take turns, as the model answers one after another. */
const QUESTIONS_TOGETHER = 8

/** Permits for the calls that a search by meaning makes to the model and the vector store. */
export function createQuestionPermits(
  { SEARCH_TIMEOUT }: Pick<Config, 'SEARCH_TIMEOUT'>,
  shares: Shares,
): Permits {
  const limits = { waiting: WAITING, patience: 3 * SEARCH_TIMEOUT, shares }
  return createPermits({ atOnce: QUESTIONS, together: QUESTIONS_TOGETHER, ...limits })
}

/** ms of the event loop that reading and answering a message of an agent takes, at most. */
const OF_A_MESSAGE = 10

/**
 * Permits for messages of agents. To read one takes milliseconds of the event loop, and a process
 * does this for one message of a key at a time.
 */
export function createAgentPermits(
  { SEARCH_TIMEOUT }: Pick<Config, 'SEARCH_TIMEOUT'>,
  shares: Shares,
): Permits {
  const limits = { waiting: WAITING, patience: 3 * SEARCH_TIMEOUT, shares }
  return createPermits({ atOnce: 1, charged: OF_A_MESSAGE, ...limits })
}

/**
 * Permits for the statements of feeds and of owners' pages, by token, key or feed. Most of these
 * write one row, so Postgres runs one at a time. Without permits, the others would wait in Postgres
 * and occupy a connection each.
 */
export function createCountPermits({ SEARCH_TIMEOUT }: Pick<Config, 'SEARCH_TIMEOUT'>): Permits {
  return createPermits({ atOnce: 2, waiting: COUNTING, patience: SEARCH_TIMEOUT })
}

/**
 * How many hosts that clients name are looked up at a time, and ms that a look-up waits for others.
 */
const NAMES_TOGETHER = 4
const NAME_PATIENCE = 30_000

/** Permits for look-ups of hosts that clients name: one at a time for a key. Keys take turns. */
export const createNamePermits = (): Permits =>
  createPermits({
    atOnce: 1,
    together: NAMES_TOGETHER,
    waiting: WAITING,
    patience: NAME_PATIENCE,
  })

type SearchPermitSettings = Pick<Config, 'DATABASE_POOL' | 'SEARCH_TIMEOUT'>
