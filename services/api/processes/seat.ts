import type { Socket } from 'node:net'

/** One of the processes, as the dispatcher sees it. */
export interface Taker {
  /** Sends a connection to the process. */
  hand(id: number, socket: Socket): void
  /** Asks the process to close idle connections. */
  makeRoom(): void
}

/** A connection that no process has yet. */
export interface Waiting {
  id: number
  socket: Socket
  /** Of its client. */
  address: string
}

/** The connections of one process, and those that wait for it. */
export interface Seat {
  /** Connections; of a process that takes none, more than any other has. */
  load(): number
  push(waiting: Waiting): void
  took(): void
  closed(id: number): void
  /** Gives those that wait to other processes. */
  empty(): void
  /** The process has ended. */
  gone(): void
}

/** ms after which a process that has not taken a connection counts as stuck. */
const TAKING_TIMEOUT = 1_000

interface Listeners {
  /** A connection of a client has ended. */
  leave(address: string): void
  reassign(waiting: Waiting[]): void
}

export function createSeat(taker: Taker, { leave, reassign }: Listeners): Seat {
  const open = new Map<number, string>()
  const queue: Waiting[] = []
  // One is handed over at a time: those that wait can still go to another process.
  let handed: { waiting: Waiting; late: NodeJS.Timeout } | null = null
  let stuck = false

  const handNext = () => {
    while (handed === null) {
      const waiting = queue.shift()
      if (!waiting) return
      if (waiting.socket.destroyed) {
        leave(waiting.address)
        continue
      }
      const late = setTimeout(() => {
        stuck = true
        reassign(queue.splice(0))
      }, TAKING_TIMEOUT)
      handed = { waiting, late }
      taker.hand(waiting.id, waiting.socket)
    }
  }
  return {
    load: () => (stuck ? Infinity : open.size + queue.length + (handed ? 1 : 0)),
    push(waiting) {
      queue.push(waiting)
      handNext()
    },
    took() {
      if (handed === null) return
      const { waiting, late } = handed
      clearTimeout(late)
      open.set(waiting.id, waiting.address)
      // Ours is a copy by now.
      waiting.socket.destroy()
      handed = null
      stuck = false
      handNext()
    },
    closed(id) {
      const address = open.get(id)
      if (address === undefined) return
      open.delete(id)
      leave(address)
    },
    empty: () => reassign(queue.splice(0)),
    gone() {
      clearTimeout(handed?.late)
      for (const address of open.values()) leave(address)
      open.clear()
      // Nothing of it has been read yet.
      reassign([...(handed ? [handed.waiting] : []), ...queue.splice(0)])
      handed = null
    },
  }
}
