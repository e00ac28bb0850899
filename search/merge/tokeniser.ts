import { availableParallelism } from 'node:os'
import { openThreads } from '../../shared/threads/threads.ts'
import type { DocumentWords } from '../analysis/word-list.ts'

export interface TokeniseTask {
  texts: { title: string; body: string | null }[]
}

/** Cuts texts into words in threads. A thread starts when it is first needed. */
export interface Tokeniser {
  threads: number
  /** At most as many calls at a time as there are threads. */
  tokenise(texts: TokeniseTask['texts']): Promise<DocumentWords[]>
  close(): Promise<void>
}

/** One thread tokenises faster than another process builds segments. */
const MOST_THREADS = 4

/** ms. Some hundred texts take tenths of a second; those of megabytes, seconds. */
const TIMEOUT = 120_000

/** MB of heap of a thread: texts and words of a call, several times over. */
const MEMORY = 1_024

export function openTokeniser(): Tokeniser {
  const count = Math.min(Math.max(availableParallelism() - 1, 1), MOST_THREADS)
  const start = () =>
    openThreads<TokeniseTask, DocumentWords[]>({
      worker: new URL('./tokeniser-thread.ts', import.meta.url),
      threads: count,
      timeout: TIMEOUT,
      memory: MEMORY,
    })
  let threads: ReturnType<typeof start> | null = null
  return {
    threads: count,
    tokenise(texts) {
      threads ??= start()
      // Rows of a table have more fields, which the thread does not need.
      return threads.run({ texts: texts.map(({ title, body }) => ({ title, body })) })
    },
    async close() {
      await threads?.close()
      threads = null
    },
  }
}

/** Runs some works, so many at a time, and returns their results in order. */
export async function* inOrder<T>(works: Iterable<() => Promise<T>>, atOnce: number): AsyncGenerator<T> {
  const running: Promise<T>[] = []
  for (const work of works) {
    const done = running.length === atOnce ? [await running.shift()!] : []
    const started = work()
    // The caller gets the error when its turn comes. Until then it must not count as unhandled.
    started.catch(() => {})
    running.push(started)
    yield* done
  }
  for (const one of running) yield await one
}
