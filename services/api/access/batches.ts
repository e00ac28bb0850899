/**
 * Batches by name: requests of one name that come at the same time share a statement. Those that
 * come while `atOnce` statements of the name are under way wait for the next one. A key's rows are
 * locked by one statement at a time, so more statements would only wait in the database and hold a
 * connection each. Names never wait for each other.
 */
export interface Batches<Context, Answer> {
  /**
   * Joins the next batch of a name. Its statement begins after this call.
   *
   * @param context the same for all that have the same name
   */
  join(name: string, context: Context): Promise<Answer>
}

interface Member<Context, Answer> {
  context: Context
  resolve(answer: Answer): void
  reject(error: unknown): void
}

interface Line<Context, Answer> {
  underWay: number
  waiting: Member<Context, Answer>[]
  /** Whether a batch begins at the end of this turn of the event loop. */
  begins: boolean
}

/** @param run answers all members of a batch, in their order */
export function createBatches<Context, Answer>(
  atOnce: number,
  run: (context: Context, members: number) => Promise<Answer[]>,
): Batches<Context, Answer> {
  const lines = new Map<string, Line<Context, Answer>>()

  function beginSoon(name: string, line: Line<Context, Answer>): void {
    if (line.begins || line.underWay === atOnce || line.waiting.length === 0) return
    line.begins = true
    // All requests that the sockets held in this turn join.
    setImmediate(() => {
      line.begins = false
      void begin(name, line)
    })
  }

  async function begin(name: string, line: Line<Context, Answer>): Promise<void> {
    const members = line.waiting
    line.waiting = []
    line.underWay++
    try {
      const answers = await run(members[0]!.context, members.length)
      for (const [at, member] of members.entries()) member.resolve(answers[at]!)
    } catch (error) {
      for (const member of members) member.reject(error)
    }
    line.underWay--
    if (line.underWay === 0 && line.waiting.length === 0) lines.delete(name)
    else beginSoon(name, line)
  }

  return {
    join(name, context) {
      const line = lines.get(name) ?? { underWay: 0, waiting: [], begins: false }
      lines.set(name, line)
      return new Promise((resolve, reject) => {
        line.waiting.push({ context, resolve, reject })
        beginSoon(name, line)
      })
    },
  }
}
