import { Worker } from 'node:worker_threads'

/** ms between two signs of life, and between two looks at them. */
export const BEAT_MS = 1_000

/** What the watching thread is told. */
export interface Watch {
  /** Of the process, as it names itself in its log. */
  name: string
  /** Looks in a row without a sign of life after which the process is ended. */
  looks: number
  /** Its last words are a line of the log, or a sentence for people. */
  words: 'json' | 'sentence'
  /** Counts the signs of life. */
  beats: SharedArrayBuffer
}

/**
 * Ends this process with SIGKILL when its event loop stands still for `limit`: nothing else in it
 * could do so, and the supervisor that starts a fresh one sees only processes that end. A thread of
 * its own watches; it holds 19 MB and does not keep the process alive.
 *
 * The thread counts its own looks, not the time: while the whole machine sleeps, or the process is
 * stopped, it does not look either. On a machine that is too busy for the loop it is slow as well.
 *
 * @param limit ms; 0 watches nothing
 * @param onError the thread could not start: the process goes on unwatched
 */
export function watchEventLoop(
  { name, limit, words }: { name: string; limit: number; words: Watch['words'] },
  onError: (error: Error) => void,
): void {
  if (limit === 0) return
  const beats = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
  setInterval(() => Atomics.add(beats, 0, 1), BEAT_MS).unref()
  const watch: Watch = { name, words, looks: Math.ceil(limit / BEAT_MS), beats: beats.buffer }
  // None of the process's own flags: some are not for threads.
  const thread = new Worker(new URL('event-loop-thread.ts', import.meta.url), { workerData: watch, execArgv: [] })
  thread.on('error', onError).unref()
}
