import type { Orders } from './documents.ts'

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
