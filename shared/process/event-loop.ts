import { Worker } from 'node:worker_threads'

/** ms between two signs of life, and between two looks at them. */
export const BEAT_MS = 1_000

/** The input of the watching thread. */
export interface Watch {
  /** The name of the process in its log. */
  name: string
  /** Its number, when it shares a service with others. */
  number: string | null
  /** Looks in a row without a sign of life after which the process is ended. */
  looks: number
  /** The form of the last message: a line of the log, or a sentence for people. */
  words: 'json' | 'sentence'
  /** Counts the signs of life. */
  beats: SharedArrayBuffer
}

/**
 * Ends this process with SIGKILL when its event loop stands still for `limit`. Only a thread can do
 * so, and a supervisor restarts only processes that end. The thread takes 19 MB and does not keep
 * the process alive.
 *
 * The thread counts its own checks, not the time. It does not check while the machine sleeps or the
 * process is stopped. On a machine that is too busy for the loop, the thread is slow as well.
 *
 * @param limit ms; 0 watches nothing
 * @param onError the thread could not start: the process goes on unwatched
 */
export function watchEventLoop(
  { name, number = null, limit, words }: Pick<Watch, 'name' | 'words'> & { number?: string | null; limit: number },
  onError: (error: Error) => void,
): void {
  if (limit === 0) return
  const beats = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
  setInterval(() => Atomics.add(beats, 0, 1), BEAT_MS).unref()
  const watch: Watch = { name, number, words, looks: Math.ceil(limit / BEAT_MS), beats: beats.buffer }
  // Without the process's own flags, because threads refuse some of them.
  const thread = new Worker(new URL('event-loop-thread.ts', import.meta.url), { workerData: watch, execArgv: [] })
  thread.on('error', onError).unref()
}
