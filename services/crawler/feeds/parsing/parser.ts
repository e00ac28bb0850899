import { createFairQueue } from '#shared/threads/fair-queue'
import { openThreads, ThreadError } from '#shared/threads/threads'
import type { ParsedFeed, ParseTask } from './parse.ts'

/** Threads that parse feeds and sitemaps, so that foreign bytes never block the event loop. */
export interface FeedParser {
  /**
   * Null: the document is no feed.
   *
   * @param outlet the outlet whose turn this is; the time of the thread counts for it
   * @throws ParseFailure when the document needs too much time or memory
   * @throws the reason of `signal` when it aborts before the document has a thread
   */
  parse(
    document: ParseTask,
    outlet: string | number,
    signal?: AbortSignal,
  ): Promise<ParsedFeed | null>
  /** Ends all threads as soon as they have loaded. Documents that are being parsed fail. */
  close(): Promise<void>
}

/** A document that could not be parsed. `message` is a short sentence for operators. */
export class ParseFailure extends Error {
  override name = 'ParseFailure'
}

/** Two, so that a document that uses all of its time leaves a thread for others. */
const THREADS = 2
/** ms that one document may keep a thread. */
const TIMEOUT = 10_000
/** MB of heap: enough for a document of the largest size. */
const MEMORY = 512

/** @param worker the code that the threads run; a test may replace it */
export function openFeedParser(worker: URL = new URL('./parse.ts', import.meta.url)): FeedParser {
  const threads = openThreads<ParseTask, ParsedFeed | null>({
    worker,
    threads: THREADS,
    timeout: TIMEOUT,
    memory: MEMORY,
  })
  const queue = createFairQueue(THREADS)
  return {
    async parse(document, outlet, signal?) {
      try {
        return await queue.take(outlet, () => threads.run(document), signal)
      } catch (error) {
        throw error instanceof ThreadError
          ? new ParseFailure(sentenceOf(error), { cause: error })
          : error
      }
    },
    close: () => threads.close(),
  }
}

function sentenceOf({ failure, message }: ThreadError): string {
  switch (failure) {
    case 'timeout':
      return `parsing the document takes longer than ${TIMEOUT} ms`
    case 'memory':
      return `parsing the document takes more than ${MEMORY} MB of memory`
    case 'error':
      return `parsing the document failed: ${message}`
  }
}
