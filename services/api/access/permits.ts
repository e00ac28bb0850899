/** Work that takes turns by the name that it is done for. */
export interface Turns {
  /**
   * Does the work once fewer than `atOnce` of the same name are under way; others of that name come first come, first
   * served. Work of other names never waits for it.
   *
   * @param leaves a turn that is not needed any more is not waited for
   * @throws NoTurn when it would have to wait for too long, or too many wait already; whatever `work` throws
   */
  take<T>(name: string, work: () => Promise<T>, leaves?: AbortSignal): Promise<T>
}

/** The work has not been begun. */
export class NoTurn extends Error {
  override name = 'NoTurn'
}

export interface TurnLimits {
  /** Pieces of work of one name under way at a time. */
  atOnce: number
  /** Of one name. */
  waiting: number
  /** ms */
  patience: number
}

/** Turns of this process. It remembers a name only as long as there is work of it. */
export function createTurns({ atOnce, waiting, patience }: TurnLimits): Turns {
  const lines = new Map<string, { active: number; waiting: Set<() => void> }>()

  return {
    async take(name, work, leaves) {
      const line = lines.get(name) ?? { active: 0, waiting: new Set() }
      lines.set(name, line)
      if (line.active < atOnce) line.active++
      else if (line.waiting.size < waiting) await myTurn(line.waiting, patience, leaves)
      else throw new NoTurn('Too many wait for a turn.')
      try {
        return await work()
      } finally {
        const [next] = line.waiting
        // Handed over without a gap in which somebody else could slip in, or be handed the same turn.
        if (next) {
          line.waiting.delete(next)
          next()
        } else {
          line.active--
        }
        if (line.active === 0) lines.delete(name)
      }
    },
  }
}

/** Waits in a line; whoever gives up leaves it. */
async function myTurn(line: Set<() => void>, patience: number, leaves: AbortSignal | undefined): Promise<void> {
  const turn = Promise.withResolvers<void>()
  const giveUp = (why: string) => () => {
    line.delete(turn.resolve)
    turn.reject(new NoTurn(why))
  }
  const late = setTimeout(giveUp('No turn came in time.'), patience)
  const left = giveUp('Whoever asked has left.')
  leaves?.addEventListener('abort', left, { once: true })
  line.add(turn.resolve)
  if (leaves?.aborted) left()
  try {
    await turn.promise
  } finally {
    clearTimeout(late)
    leaves?.removeEventListener('abort', left)
  }
}
