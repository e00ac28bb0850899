import { setTimeout as sleep } from 'node:timers/promises'
import type { NewArticle } from '#search/types'
import type { Notes } from './line.ts'
import type { ArticleReader, LineToRead } from './reader.ts'

/** The articles of consecutive lines. */
export interface Group {
  articles: NewArticle[]
  bad: { number: number; reason: string }[]
  notes: Notes
  /** Bytes of the file up to the end of the group. */
  end: number
}

/** In bytes. A page of the crawler is at most 10 MiB, so no article needs a longer line. */
const LONGEST_LINE = 32 << 20

/**
 * The size of a full group: large enough to keep a thread busy, small enough to hold several in
 * memory.
 */
const GROUP = { lines: 400, bytes: 8 << 20 }

/**
 * ms without a new line after which a group is complete, so that a slow pipe is read in smaller
 * groups.
 */
const SILENCE = 500

/**
 * Reads articles in groups, in their order. The reader's threads read the next groups while the
 * caller indexes one.
 *
 * @param records splits the stream; lines by default
 */
export async function* readGroups(
  stream: AsyncIterable<Buffer>,
  reader: ArticleReader,
  records: ReadRecords = readLines,
): AsyncGenerator<Group> {
  const reading: Promise<Group>[] = []
  for await (const unread of orSilence(gather(stream, records), SILENCE)) {
    if (unread === null) {
      for (const group of reading.splice(0)) yield await group
      continue
    }
    const { lines, tooLong, end } = unread
    // When all threads are busy, this first waits for the oldest group, so that a thread is free
    // for the new one. The caller gets the oldest group afterwards.
    const done = reading.length === reader.threads ? await reading.shift() : undefined
    const group = reader.read(lines).then(({ articles, bad, notes }) => ({
      articles,
      notes,
      bad: [...bad, ...tooLong].sort((a, b) => a.number - b.number),
      end,
    }))
    // The caller gets the error when it reaches this group. Until then the error must not count as
    // unhandled.
    group.catch(() => {})
    reading.push(group)
    if (done !== undefined) yield done
  }
  for (const group of reading) yield await group
}

/** From so many lines in a row with one reason, one sentence tells them all. */
const RUN = 10

/** Says what is wrong with bad lines, in a sentence for each, or for a run of them. */
export function badInWords(bad: Group['bad']): string[] {
  const sentences: string[] = []
  for (let from = 0; from < bad.length; ) {
    const { number, reason } = bad[from]!
    let run = 1
    while (bad[from + run]?.number === number + run && bad[from + run]!.reason === reason) run += 1
    if (run < RUN) run = 1
    const lines = run === 1 ? `Line ${number}` : `Lines ${number} to ${number + run - 1}`
    sentences.push(`${lines}: ${reason}`)
    from += run
  }
  return sentences
}

/** Consecutive lines that no thread has read yet. */
interface UnreadGroup {
  lines: LineToRead[]
  tooLong: Group['bad']
  end: number
}

async function* gather(
  stream: AsyncIterable<Buffer>,
  records: ReadRecords,
): AsyncGenerator<UnreadGroup> {
  let group: UnreadGroup = { lines: [], tooLong: [], end: 0 }
  let start = 0
  for await (const line of records(orSilence(stream, SILENCE), LONGEST_LINE)) {
    if (line === null) {
      if (group.lines.length + group.tooLong.length > 0) yield group
      start = group.end
      group = { lines: [], tooLong: [], end: start }
      continue
    }
    const { number, text, end, problem } = line
    group.end = end
    if (text === null)
      group.tooLong.push({
        number,
        reason: problem ?? `it is longer than ${LONGEST_LINE} bytes.`,
      })
    else if (text.trim() !== '') group.lines.push({ number, text })
    if (group.lines.length + group.tooLong.length < GROUP.lines && end - start < GROUP.bytes)
      continue
    yield group
    group = { lines: [], tooLong: [], end }
    start = end
  }
  if (group.lines.length + group.tooLong.length > 0) yield group
}

/** Yields the same items, and null after each `ms` ms without an item. */
export async function* orSilence<T>(items: AsyncIterable<T>, ms: number): AsyncGenerator<T | null> {
  const iterator = items[Symbol.asyncIterator]()
  let coming: Promise<IteratorResult<T>> | null = null
  try {
    for (;;) {
      coming ??= iterator.next()
      const silence = new AbortController()
      const item = await Promise.race([
        coming,
        sleep(ms, null, { signal: silence.signal }).catch(() => null),
      ])
      silence.abort()
      if (item === null) {
        yield null
        continue
      }
      coming = null
      if (item.done === true) return
      yield item.value
    }
  } finally {
    // While the iterator waits for an item it cannot end, so this does not wait for its end.
    const ending = iterator.return?.()
    if (coming === null) await ending
    else ending?.catch(() => {})
  }
}

/** Splits a stream into records. A null in the stream means a pause, and is passed on. */
export type ReadRecords = (
  stream: AsyncIterable<Buffer | null>,
  limit: number,
) => AsyncGenerator<Line | null>

/**
 * One line of a stream, without its end. `text` is null for a line longer than the limit, whose
 * bytes were dropped, and for one with a problem.
 */
export interface Line {
  number: number
  text: string | null
  problem?: string
  /** Bytes of the stream up to the end of this line. */
  end: number
}

/**
 * Splits a stream of bytes into lines of UTF-8 (broken sequences become U+FFFD, a byte-order mark
 * is removed). No line takes more memory than `limit` bytes. A null in the stream means a pause,
 * and is passed on.
 */
export async function* readLines(
  stream: AsyncIterable<Buffer | null>,
  limit: number,
): AsyncGenerator<Line | null> {
  const decoder = new TextDecoder()
  let number = 1
  let end = 0
  let parts: Buffer[] = []
  let length = 0
  const finish = (): Line => {
    const line = {
      number,
      end,
      text: length > limit ? null : decoder.decode(Buffer.concat(parts)).replace(/\r$/, ''),
    }
    number++
    parts = []
    length = 0
    return line
  }
  for await (const chunk of stream) {
    if (chunk === null) {
      yield null
      continue
    }
    let from = 0
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
      length += at - from
      if (length <= limit) parts.push(chunk.subarray(from, at))
      end += at - from + 1
      from = at + 1
      yield finish()
    }
    length += chunk.length - from
    end += chunk.length - from
    if (length <= limit) parts.push(chunk.subarray(from))
    else parts = []
  }
  if (length > 0) yield finish()
}
