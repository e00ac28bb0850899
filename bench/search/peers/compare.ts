import { isDeepStrictEqual } from 'node:util'
import type { ArticleRow } from '../../../search/index.ts'
import { articleObject } from '../../../services/api/articles/shown-article.ts'
import type { Orders } from './documents.ts'
import type { PeerAnswer } from './peer.ts'

/**
 * True when a peer found Perscope's page. Among articles with the same time Perscope puts the
 * closer match first. Peers need not: any order among them is right, and any choice at the end of a
 * page.
 */
export function samePage(
  ours: number[],
  theirs: number[],
  axis: 'published_at' | 'ingested_at',
  orders: Orders,
): boolean {
  if (ours.length !== theirs.length || new Set(theirs).size < theirs.length) return false
  const timeOf = (seq: number) =>
    axis === 'published_at' ? orders.published[orders.placeOfSeq[seq]!] : orders.ingested[orders.turnOfSeq[seq]!]
  const end = timeOf(ours.at(-1) ?? 0)
  const unclear = new Set(ours)
  for (const [index, seq] of theirs.entries()) {
    const time = timeOf(seq)
    if (time !== timeOf(ours[index]!)) return false
    if (!unclear.delete(seq) && time !== end) return false
  }
  return true
}

/**
 * A row of a peer's page that is another than Perscope shows of the article; null: there is none.
 * Articles that Perscope has not on this page are not looked at.
 */
export function otherRow(
  ours: readonly ArticleRow[],
  { seqs, rows }: Pick<PeerAnswer, 'seqs' | 'rows'>,
): string | null {
  if (rows.length !== seqs.length) return `${rows.length} rows of ${seqs.length} articles`
  const shown = new Map(ours.map(row => [Number(row.seq), row]))
  for (const [index, seq] of seqs.entries()) {
    const row = shown.get(seq)
    if (row !== undefined && !isDeepStrictEqual(JSON.parse(rows[index]!), articleObject(row))) return rows[index]!
  }
  return null
}
