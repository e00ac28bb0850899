/** Permits by name: limits how much work of one name is under way at a time. */
export interface Permits {
  /**
   * Does the work once fewer than `atOnce` of the same name are under way; others of that name come
   * first come, first served. Work of other names never waits for it.
   *
   * @param leaves ends the wait: the caller has left
   * @throws NoPermit when it would have to wait for too long, or too many wait already; whatever
   * `work` throws
   */
  take<T>(name: string, work: () => Promise<T>, leaves?: AbortSignal): Promise<T>
}

/** The work has not been begun. */
export class NoPermit extends Error {
  override name = 'NoPermit'
}

export interface PermitLimits {
  /** Pieces of work of one name under way at a time. */
  atOnce: number
  /** Of one name. */
  waiting: number
  /** ms */
  patience: number
}

/** Permits of this process. It forgets a name when no work of it is left. */
export function createPermits({ atOnce, waiting, patience }: PermitLimits): Permits {
  const lines = new Map<string, { active: number; waiting: Set<() => void> }>()

  return {
    async take(name, work, leaves) {
      const line = lines.get(name) ?? { active: 0, waiting: new Set() }
      lines.set(name, line)
      if (line.active < atOnce) line.active++
      else if (line.waiting.size < waiting) await nextPermit(line.waiting, patience, leaves)
      else throw new NoPermit('Too many wait for a permit.')
      try {
        return await work()
      } finally {
        const [next] = line.waiting
        // Handed over without a gap in which somebody else could slip in, or be handed the same
        // permit.
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

/** Waits in a line; a caller that gives up leaves it. */
async function nextPermit(line: Set<() => void>, patience: number, leaves: AbortSignal | undefined): Promise<void> {
  const permit = Promise.withResolvers<void>()
  const giveUp = (why: string) => () => {
    line.delete(permit.resolve)
    permit.reject(new NoPermit(why))
  }
  const late = setTimeout(giveUp('No permit came in time.'), patience)
  const left = giveUp('The caller has left.')
  leaves?.addEventListener('abort', left, { once: true })
  line.add(permit.resolve)
  if (leaves?.aborted) left()
  try {
    await permit.promise
  } finally {
    clearTimeout(late)
    leaves?.removeEventListener('abort', left)
  }
}
