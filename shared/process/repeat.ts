/** Work that is repeated until `close` is called. */
export interface Repeated {
  /** Ends the repetition. Resolves when the present run has ended. */
  close(): Promise<void>
}

/**
 * Runs `work` again and again. Each run begins `rest` ms after the end of the run before, so that
 * two runs never overlap. A run may fail; the next one follows all the same.
 *
 * @param work its signal is aborted by `close`
 * @param options.first ms before the first run; 0
 * @param options.outage told after every run whether it failed
 */
export function repeatEvery(
  rest: number,
  work: (closing: AbortSignal) => Promise<unknown>,
  options: { first?: number; outage: { met(error: unknown): void; over(): void } },
): Repeated {
  const { first = 0, outage } = options
  const closing = new AbortController()
  let running: Promise<void> = Promise.resolve()
  let timer: NodeJS.Timeout | undefined
  const run = async () => {
    await work(closing.signal).then(outage.over, outage.met)
    if (!closing.signal.aborted) timer = setTimeout(next, rest)
  }
  function next(): void {
    running = run()
  }
  if (first === 0) next()
  else timer = setTimeout(next, first)
  return {
    async close() {
      closing.abort()
      clearTimeout(timer)
      await running
    },
  }
}
