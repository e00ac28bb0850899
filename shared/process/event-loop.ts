import { Worker } from 'node:worker_threads'

/** ms between two beats of the event loop, and between two checks of the thread. */
export const BEAT_MS = 1_000

/** The input of the watching thread. */
export interface Watch {
  /** The name of the process in its log. */
  name: string
  /** The number of the process, if several share a service. */
  number: string | null
  /** After this many checks in a row without a beat, the thread ends the process. */
  looks: number
  /** The form of the last message: a line of the log in JSON, or a sentence for people. */
  words: 'json' | 'sentence'
  /** Counts the beats of the event loop. */
  beats: SharedArrayBuffer
}

/**
 * Ends this process with SIGKILL if its event loop stands still for `limit`. A supervisor restarts
 * only processes that end, and only a thread can end a process in this state. The thread takes 19
 * MB and does not keep the process alive.
 *
 * The thread counts its own checks and does not measure time. It does not check while the machine
 * sleeps or the process is stopped. If the machine is too busy for the loop, the thread is slow as
 * well.
 *
 * @param limit ms; 0: the loop is not watched
 * @param onError called when the thread cannot start; the process goes on without it
 */
export function watchEventLoop(
  {
    name,
    number = null,
    limit,
    words,
  }: Pick<Watch, 'name' | 'words'> & { number?: string | null; limit: number },
  onError: (error: Error) => void,
): void {
  if (limit === 0) return
  const beats = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
  setInterval(() => Atomics.add(beats, 0, 1), BEAT_MS).unref()
  const watch: Watch = {
    name,
    number,
    words,
    looks: Math.ceil(limit / BEAT_MS),
    beats: beats.buffer,
  }
  // `execArgv` is empty, because threads refuse some flags of the process.
  const thread = new Worker(new URL('event-loop-thread.ts', import.meta.url), {
    workerData: watch,
    execArgv: [],
  })
  thread.on('error', onError).unref()
}
