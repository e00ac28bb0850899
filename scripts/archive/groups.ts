import type { NewArticle } from '../../shared/indexing/new-article.ts'
import { BadLine, parseArticle } from './article.ts'
import { readLines } from './lines.ts'

/** Articles of consecutive lines of an archive. */
export interface Group {
  articles: NewArticle[]
  bad: { number: number; reason: string }[]
  /** Bytes of the archive up to the end of the group. */
  end: number
}

/** In bytes. A page of the crawler is at most 10 MiB, so no article needs a longer line. */
const LONGEST_LINE = 32 << 20

/**
 * Large enough to keep the database busy while the next group is read. Small enough to hold two in
 * memory.
 */
const GROUP = { lines: 500, bytes: 8 << 20 }

/** Reads an archive in groups. It reads each group while the caller indexes the group before. */
export async function* readGroups(stream: AsyncIterable<Buffer>): AsyncGenerator<Group> {
  const groups = gather(stream)
  let next = groups.next()
  for (;;) {
    const { value, done } = await next
    if (done) return
    next = groups.next()
    // The next turn of this loop throws the error. Until then it must not count as unhandled.
    next.catch(() => {})
    yield value
  }
}

async function* gather(stream: AsyncIterable<Buffer>): AsyncGenerator<Group> {
  let group: Group = { articles: [], bad: [], end: 0 }
  let start = 0
  for await (const { number, text, end } of readLines(stream, LONGEST_LINE)) {
    group.end = end
    if (text === null) group.bad.push({ number, reason: `it is longer than ${LONGEST_LINE} bytes.` })
    else if (text.trim() !== '') read(group, number, text)
    if (group.articles.length + group.bad.length < GROUP.lines && end - start < GROUP.bytes) continue
    yield group
    group = { articles: [], bad: [], end }
    start = end
  }
  if (group.articles.length + group.bad.length > 0) yield group
}

function read(group: Group, number: number, line: string): void {
  try {
    group.articles.push(parseArticle(line))
  } catch (error) {
    if (!(error instanceof BadLine)) throw error
    group.bad.push({ number, reason: error.message })
  }
}
