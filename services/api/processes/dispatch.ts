import type { Socket } from 'node:net'
import { lockAddress } from '../access/lock.ts'
import type { ConnectionLimits } from '../http/server.ts'
import { createConnectionCount } from './connection-count.ts'
import { createSeat, type Seat, type Taker, type Waiting } from './seat.ts'

/** Gives connections to the processes: each to the one that has fewest. */
export interface Dispatcher {
  /** A client has connected. */
  admit(socket: Socket): void
  add(taker: Taker): void
  /** It gets no more connections, and keeps those that it has. */
  remove(taker: Taker): void
  /** It has taken the connection that was handed to it. */
  took(taker: Taker): void
  closed(taker: Taker, id: number): void
  /** The process has ended. */
  gone(taker: Taker): void
}

/** ms that a client waits for a process, when none is there. */
const PATIENCE = 15_000

/**
 * Round robin, as `node:cluster` does it, gives the next connection to the process that is first
 * ready to take one. Of eight connections at once one process then has three and the other five,
 * and after a process was replaced the old one keeps them all. Clients keep their connections for
 * long, so this counts them (as `@socket.io/sticky` does).
 *
 * @param limits of all processes together
 */
export function createDispatcher(limits: ConnectionLimits): Dispatcher {
  const count = createConnectionCount(limits)
  const seats = new Map<Taker, Seat>()
  const eligible = new Map<Taker, Seat>()
  const unassigned: Waiting[] = []
  let last = 0

  const assign = (waiting: Waiting) => {
    const found = emptiest(eligible)
    if (!found) return void unassigned.push(waiting)
    const [taker, seat] = found
    // Of equals the next one is another.
    eligible.delete(taker)
    eligible.set(taker, seat)
    seat.push(waiting)
  }
  return {
    admit(socket) {
      socket.on('error', () => {})
      const address = lockAddress(undefined, socket.remoteAddress)
      const entered = count.enter(address)
      if (entered === 'full') for (const taker of seats.keys()) taker.makeRoom()
      if (entered !== 'in') return void socket.destroy()
      socket.setTimeout(PATIENCE, () => socket.destroy())
      assign({ id: ++last, socket, address })
    },
    add(taker) {
      const seat = createSeat(taker, { leave: count.leave, reassign: waiting => waiting.forEach(assign) })
      seats.set(taker, seat)
      eligible.set(taker, seat)
      unassigned.splice(0).forEach(assign)
    },
    remove(taker) {
      eligible.delete(taker)
      seats.get(taker)?.empty()
    },
    took: taker => seats.get(taker)?.took(),
    closed: (taker, id) => seats.get(taker)?.closed(id),
    gone(taker) {
      const seat = seats.get(taker)
      eligible.delete(taker)
      seats.delete(taker)
      seat?.gone()
    },
  }
}

/** The process with fewest connections; those that take none come last. */
function emptiest(eligible: Map<Taker, Seat>): [Taker, Seat] | undefined {
  let best: [Taker, Seat] | undefined
  for (const one of eligible) if (!best || one[1].load() < best[1].load()) best = one
  return best
}
