import type { Queryable } from '../../shared/postgres/pool.ts'
import type { Shelf } from '../cache/segment-cache.ts'
import type { Recheck } from '../query/match.ts'
import type { Columns } from '../segment/columns.ts'
import {
  bytesOf,
  type DocSet,
  difference,
  docsOf,
  emptySet,
  intersection,
  ownCopy,
  passing,
  union,
} from '../segment/doc-id-set.ts'
import type { Segment } from '../store/segment-store.ts'
import { isExact, type Reading } from './evaluate.ts'

/** A segment's matches as far as its lists can tell. */
export interface Read {
  segment: Segment
  columns: Columns
  reading: Reading
}

/**
 * Looks at the words of the documents that the lists leave open, and says which match. What was found out is kept on the
 * shelf: later pages of the same search need not look again.
 *
 * @returns for each segment the documents that match
 */
export async function settle(db: Queryable, shelf: Shelf, reads: Read[], recheck: Recheck | null): Promise<DocSet[]> {
  if (reads.every(({ reading }) => isExact(reading))) return reads.map(read => read.reading.maybe)
  const key = JSON.stringify(recheck)
  const states = reads.map(read => {
    const { sure, maybe } = read.reading
    const left = isExact(read.reading) ? emptySet(maybe.size) : difference(maybe, sure)
    const none = emptySet(maybe.size)
    const known = (left.count > 0 ? shelf.findings.get({ segment: read.segment, key }) : undefined) ?? {
      yes: none,
      no: none,
    }
    return { read, left, known, open: difference(difference(left, known.yes), known.no) }
  })
  const seqs = states.flatMap(({ read, open }) => seqsOf(read, open))
  const matches = new Set(recheck === null || seqs.length === 0 ? [] : await matching(db, seqs, recheck))
  return states.map(({ read, left, known, open }) => {
    const { segment, columns, reading } = read
    if (left.count === 0) return reading.maybe
    const found = passing(open, doc => matches.has(segment.first + BigInt(columns.offsets[doc]!)))
    const yes = union([known.yes, found], open.size)
    if (open.count > 0) {
      const no = union([known.no, difference(open, found)], open.size)
      const findings = { yes: ownCopy(yes), no: ownCopy(no) }
      shelf.findings.set({ segment, key }, findings, bytesOf(findings.yes) + bytesOf(findings.no) + key.length)
    }
    return union([reading.sure, intersection(left, yes)], open.size)
  })
}

function seqsOf({ segment, columns }: Read, set: DocSet): bigint[] {
  return Array.from(docsOf(set), doc => segment.first + BigInt(columns.offsets[doc]!))
}

async function matching(db: Queryable, seqs: bigint[], { whole, required, excluded }: Recheck): Promise<bigint[]> {
  // A connection remembers what has a name for ever: only forms that come again have one.
  const common = required.length + excluded.length <= 4
  const { rows } = await db.query<{ seq: bigint }>({
    ...(common ? { name: `search-words-${whole}-${required.length}-${excluded.length}` } : {}),
    text: wordsStatement(whole, required.length, excluded.length),
    values: [seqs, ...required, ...excluded],
  })
  return rows.map(row => row.seq)
}

// $1 seqs, then the lists that must be there, then those that must not. Index: the primary key.
function wordsStatement(whole: boolean, required: number, excluded: number): string {
  const holds = (parameter: number) =>
    whole ? `(strpos(title, $${parameter}) > 0 or strpos(body, $${parameter}) > 0)` : `strpos(title, $${parameter}) > 0`
  const conditions = [
    ...Array.from({ length: required }, (_, index) => holds(index + 2)),
    ...Array.from({ length: excluded }, (_, index) => `not ${holds(index + 2 + required)}`),
  ]
  return `select seq from article_words where seq = any ($1::bigint[]) and ${conditions.join(' and ')}`
}
