import { availableParallelism } from 'node:os'
import type { DocumentWords } from '../../search/analysis/index.ts'
import type { Tokeniser } from '../../search/indexer.ts'
import { openThreads } from '../../shared/threads/threads.ts'

export interface TokeniseTask {
  texts: { title: string; body: string | null }[]
}

/** One thread tokenises faster than the process builds segments. */
const MOST_THREADS = 4

/** ms. Some hundred texts take tenths of a second; those of megabytes, seconds. */
const TIMEOUT = 120_000

/** MB of heap of a thread: texts and words of a call, several times over. */
const MEMORY = 1_024

/** Tokenises in threads. */
export function openTokeniser(): Tokeniser & { close(): Promise<void> } {
  const count = Math.min(Math.max(availableParallelism() - 1, 1), MOST_THREADS)
  const threads = openThreads<TokeniseTask, DocumentWords[]>({
    worker: new URL('./tokeniser-thread.ts', import.meta.url),
    threads: count,
    timeout: TIMEOUT,
    memory: MEMORY,
  })
  return {
    atOnce: count,
    // Rows of a table have more fields, which the thread does not need.
    tokenise: texts => threads.run({ texts: texts.map(({ title, body }) => ({ title, body })) }),
    close: threads.close,
  }
}
