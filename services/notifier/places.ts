import { createTurns } from '#shared/resilience/turns'

/*
 * Which messages a notifier sends at a time. Keys take turns, and new messages come before those
 * that failed. What a receiver does counts for the key that named it alone: nobody can close a host
 * for others.
 */

/** A message that is due. */
export interface Waiting {
  id: string
  key: string
  host: string
  /** It was not sent yet. */
  isNew: boolean
}

/** How a send ended. `wait`: ms for which its receiver wants no other message. */
export interface Outcome {
  kind: 'taken' | 'refused' | 'unreachable'
  wait: number
}

/** The most messages that are sent at a time on the fast lane, in all and of a key. */
const FAST = { all: 16, ofKey: 4 }
/** The most messages that a process begins on the slow lane, in all and of a key. */
const SLOW = { all: 8, ofKey: 1 }
/** The most messages of a key on both lanes. */
const OF_A_KEY = 8
/**
 * The most messages that are sent at a time to a host that took its last message at once. Another
 * host gets one.
 */
const OF_A_HOST = 4
/** ms after which a message that is being sent moves to the slow lane, with its host. */
const IS_SLOW = 2_000
/** After so many failures in a row a host rests, and then gets one message to try. */
const BREAKS = 3
/** ms of that rest after the third failure; each further one doubles it. */
const RESTS = { first: 5_000, longest: 600_000 }
/** The most hosts that are remembered. */
const REMEMBERED = 10_000

interface Host {
  sending: number
  /** It took its last message at once. */
  isProven: boolean
  isSlow: boolean
  failures: number
  closedUntil: number
}

/** A message that is being sent. */
export interface Place {
  /** @param outcome null: it was not sent after all */
  end(outcome: Outcome | null): void
}

export interface Places {
  /** Whether any message may begin. */
  readonly hasRoom: boolean
  /** Chooses what is sent now, in order, and takes the places for it. */
  choose(waiting: readonly Waiting[]): { message: Waiting; place: Place }[]
}

/** @param now the time in ms */
export function createPlaces(now: () => number = () => performance.now()): Places {
  const turns = createTurns()
  const hosts = new Map<string, Host>()
  const sending = new Set<{ key: string; host: Host; at: number }>()
  const nameOf = ({ key, host }: Waiting) => `${key} ${host}`

  function hostOf(message: Waiting): Host {
    const known = hosts.get(nameOf(message))
    if (known !== undefined) return known
    const host = { sending: 0, isProven: false, isSlow: false, failures: 0, closedUntil: 0 }
    if (hosts.size >= REMEMBERED)
      for (const [name, { sending }] of hosts) if (sending === 0) hosts.delete(name)
    hosts.set(nameOf(message), host)
    return host
  }

  /** What is sent for longer moves to the slow lane. */
  function moveSlow(): void {
    for (const { host, at } of sending) if (now() - at > IS_SLOW) host.isSlow = true
  }

  const onLane = (isSlow: boolean, key?: string) =>
    [...sending].filter(one => one.host.isSlow === isSlow && (key === undefined || one.key === key))
      .length

  /** A host that a key names for the first time is slow if another one of the key is. */
  const isSlow = (message: Waiting, host: Host) =>
    host.isSlow || (!host.isProven && onLane(true, message.key) > 0)

  function mayBegin(message: Waiting): boolean {
    const host = hostOf(message)
    if (now() < host.closedUntil) return false
    const isSure = host.isProven && !host.isSlow && host.failures === 0
    if (host.sending >= (isSure ? OF_A_HOST : 1)) return false
    const { key } = message
    if (onLane(true, key) + onLane(false, key) >= OF_A_KEY) return false
    return isSlow(message, host)
      ? onLane(true) < SLOW.all && onLane(true, key) < SLOW.ofKey
      : onLane(false) < FAST.all && onLane(false, key) < FAST.ofKey
  }

  function begin(message: Waiting): Place {
    const host = hostOf(message)
    host.isSlow = isSlow(message, host)
    const own = { key: message.key, host, at: now() }
    sending.add(own)
    host.sending += 1
    return {
      end(outcome) {
        sending.delete(own)
        host.sending -= 1
        if (outcome === null) return
        const { kind, wait } = outcome
        const isQuick = now() - own.at <= IS_SLOW
        host.isProven = kind === 'taken' && isQuick
        // A refusal that comes at once is no reason to take the slow lane.
        host.isSlow = kind === 'unreachable' || !isQuick
        host.failures = kind === 'taken' ? 0 : host.failures + 1
        const rest =
          host.failures < BREAKS
            ? 0
            : Math.min(RESTS.first * 2 ** Math.min(host.failures - BREAKS, 30), RESTS.longest)
        host.closedUntil = kind === 'taken' ? 0 : now() + Math.max(rest, wait)
      },
    }
  }

  return {
    get hasRoom(): boolean {
      moveSlow()
      return onLane(false) < FAST.all || onLane(true) < SLOW.all
    },
    choose(waiting) {
      moveSlow()
      const chosen: { message: Waiting; place: Place }[] = []
      for (const isNew of [true, false]) {
        let left = waiting.filter(one => one.isNew === isNew)
        for (;;) {
          left = left.filter(mayBegin)
          const message = turns.next(left)
          if (message === undefined) break
          turns.charge(message.key, 1)
          left = left.filter(one => one !== message)
          chosen.push({ message, place: begin(message) })
        }
      }
      return chosen
    },
  }
}
