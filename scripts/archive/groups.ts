import type { NewArticle } from '../../shared/indexing/new-article.ts'
import { BadLine, parseArticle } from './article.ts'
import { readLines } from './lines.ts'

/** Some lines of an archive, read. */
export interface Group {
  articles: NewArticle[]
  bad: { number: number; reason: string }[]
  /** Bytes of the archive up to here. */
  end: number
}

/** A longer line is nobody's article; a page of the crawler is at most 10 MiB. */
const LONGEST_LINE = 32 << 20

/** Enough to keep the database busy while the next is read, little enough to hold two in memory. */
const GROUP = { lines: 500, bytes: 8 << 20 }

/** Reads an archive in groups, each while the one before it is being indexed. */
export async function* readGroups(stream: AsyncIterable<Buffer>): AsyncGenerator<Group> {
  const groups = gather(stream)
  let next = groups.next()
  for (;;) {
    const { value, done } = await next
    if (done) return
    next = groups.next()
    // Whoever takes the group hears of a failure at the next turn, not as an unhandled one.
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
