import { availableParallelism } from 'node:os'
import type { NewArticle } from '#search/types'
import { openThreads } from '#shared/threads/threads'
import type { Notes } from './line.ts'
import { AS_EXPORTED, type Mapping } from './mapping.ts'

export interface LineToRead {
  number: number
  text: string
}

/** Lines of articles for a thread. */
export interface ReadTask {
  lines: LineToRead[]
  /** Whether to prepare the texts in the form that the index stores. */
  prepare: boolean
  /** The latest time of ingestion that a line may have, in ms since 1970. */
  latest: number
  mapping: Mapping
}

export interface ReadResult {
  articles: NewArticle[]
  notes: Notes
  bad: { number: number; reason: string }[]
}

/** Reads lines of articles in threads: validation, plain text, snippets, words. */
export interface ArticleReader {
  threads: number
  read(lines: LineToRead[]): Promise<ReadResult>
  close(): Promise<void>
}

/**
 * The most threads. One thread reads faster than one writer writes, so the others only help with
 * slow texts.
 */
const MOST_THREADS = 4

/**
 * ms that a thread may take for a group. A usual group takes tenths of a second. A line of the
 * greatest length takes some seconds on a busy machine.
 */
const TIMEOUT = 120_000

/** MB of heap of a thread: several times the longest line. */
const MEMORY = 1_024

export interface TextThreads<Task extends object, Result> {
  threads: number
  run(task: Task): Promise<Result>
  close(): Promise<void>
}

/** Starts threads that work on texts for a command. One core is left to the command. */
export function openTextThreads<Task extends object, Result>(
  worker: URL,
): TextThreads<Task, Result> {
  const threads = Math.min(Math.max(availableParallelism() - 1, 1), MOST_THREADS)
  const { run, close } = openThreads<Task, Result>({
    worker,
    threads,
    timeout: TIMEOUT,
    memory: MEMORY,
  })
  return { threads, run, close }
}

/**
 * @param prepare whether to prepare the texts in the form that the index stores
 * @param ahead ms by which the clock of the database is ahead of ours
 * @param mapping how fields are named; as our own by default
 */
export function openArticleReader({
  prepare,
  ahead = 0,
  mapping = AS_EXPORTED,
}: {
  prepare: boolean
  ahead?: number
  mapping?: Mapping
}): ArticleReader {
  const { threads, run, close } = openTextThreads<ReadTask, ReadResult>(
    new URL('./reader-thread.ts', import.meta.url),
  )
  return {
    threads,
    read: lines => run({ lines, prepare, latest: Date.now() + ahead, mapping }),
    close,
  }
}
