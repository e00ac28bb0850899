import { isDeepStrictEqual } from 'node:util'
import {
  type ArticleRow,
  INDEX_STATE,
  type IndexState,
  type IndexStateRow,
  indexStateOf,
  type SearchIndex,
} from '../../../search/index.ts'
import { articleObject } from '../../../services/api/articles/shown-article.ts'
import type { Pool } from '../../../shared/postgres/pool.ts'
import type { QueryClass } from '../classes.ts'
import { measureQuery, type QueryTimes, quantile, RUNS } from '../measure.ts'
import type { Orders } from './documents.ts'
import { LIMIT_MS, OverLimit, type Peer, type PeerAnswer } from './peer.ts'
import { type PeerQuestion, questionOf } from './questions.ts'

/** The results of one engine for a class. */
export interface EngineTimes {
  /** ms of each query: the median of its runs, or the limit. */
  times: number[]
  overLimit: number
  /** Answers that were compared with Perscope's, and those that differ. */
  compared: number
  mismatches: string[]
}

export interface ComparedClass {
  /** By the engine's key; `perscope` is ours. */
  engines: Map<string, EngineTimes>
}

/** A slow query is repeated less often. */
const SLOW_MS = 500
/**
 * When so many queries of a class in a row reached the limit, the others count as if they did too.
 */
const GIVE_UP = 2
/**
 * An engine that could not be interrupted for so long gets no more queries of that kind of match.
 */
const HOPELESS_MS = 10_000

const MOST_NAMES = 1_000

const namesIn = ({ publisherNos, authorNos }: PeerQuestion): number =>
  (publisherNos?.length ?? 0) + (authorNos?.length ?? 0)

/** Perscope's own search, and a pool on its archive. */
export interface Compared {
  pool: Pool
  index: SearchIndex
}

/** Kinds of match that an engine gets no more queries of. */
const hopeless = new WeakMap<Peer, Set<string>>()

/** Asks every engine the first query of a class: a JVM needs some work before it is fast. */
export async function warmUp(
  { pool, index }: Compared,
  peers: Peer[],
  orders: Orders,
  { queries }: QueryClass,
): Promise<void> {
  const query = queries[0]!
  await index.search(query)
  const question = await questionOf(pool, orders, query, null)
  for (const peer of peers) {
    if (namesIn(question) <= MOST_NAMES) await answerOf(peer, question)
  }
}

/**
 * Asks Perscope and each peer the queries of a class, one after the other, and compares what they
 * find.
 */
export async function compareClass(
  { pool, index }: Compared,
  peers: Peer[],
  orders: Orders,
  { name, queries, deep }: QueryClass,
): Promise<ComparedClass> {
  const engines = new Map(
    ['perscope', ...peers.map(peer => peer.key)].map((key): [string, EngineTimes] => [
      key,
      { times: [], overLimit: 0, compared: 0, mismatches: [] },
    ]),
  )
  const state = await readState(pool)
  for (const query of queries) {
    const own = await measureQuery(index, query, deep, state)
    engines.get('perscope')!.times.push(own.ms)
    const after = own.after && { seq: Number(own.after.seq), position: own.after.position }
    const question = await questionOf(pool, orders, query, after)
    const kind = name.split(' · ').slice(0, 2).join(' · ')
    for (const peer of peers) {
      // It would get a list of names that none of its users would write.
      if (namesIn(question) > MOST_NAMES) continue
      await measurePeer(peer, question, kind, own, orders, engines.get(peer.key)!)
    }
  }
  return { engines }
}

/**
 * The state of the index, as the API hands it to a search. Peers too open their searcher before
 * their clock starts.
 */
async function readState(pool: Pool): Promise<IndexState> {
  const { rows } = await pool.query<IndexStateRow>(`select ${INDEX_STATE.columns} from ${INDEX_STATE.tables}`)
  return indexStateOf(rows[0]!)
}

async function measurePeer(
  peer: Peer,
  question: PeerQuestion,
  kind: string,
  own: QueryTimes,
  orders: Orders,
  times: EngineTimes,
): Promise<void> {
  const tooLong = () => {
    times.overLimit++
    times.times.push(LIMIT_MS)
  }
  if (times.overLimit === times.times.length && times.overLimit >= GIVE_UP) return tooLong()
  if (hopeless.get(peer)?.has(kind)) return tooLong()
  const start = performance.now()
  const first = await answerOf(peer, question)
  if (performance.now() - start > HOPELESS_MS) hopeless.set(peer, (hopeless.get(peer) ?? new Set()).add(kind))
  if (first === null || first.ms > LIMIT_MS) return tooLong()
  times.compared++
  const difference = differenceOf(question, own, first, orders)
  if (difference !== null) times.mismatches.push(`${JSON.stringify(question.match)}: ${difference}`)
  const runs: number[] = []
  for (let run = 0, spent = 0; run < RUNS && spent <= SLOW_MS; run++) {
    const answer = await answerOf(peer, question)
    runs.push(answer?.ms ?? LIMIT_MS)
    spent += runs.at(-1)!
  }
  const ms = quantile(runs, 0.5)
  if (ms >= LIMIT_MS) tooLong()
  else times.times.push(ms)
}

/** How a peer's answer differs from Perscope's; null: it does not. */
function differenceOf(question: PeerQuestion, own: QueryTimes, answer: PeerAnswer, orders: Orders): string | null {
  const expected = own.page.rows.map(row => Number(row.seq))
  const total = question.cap === null ? null : own.page.total
  if (answer.total !== total) return `total ${total} / ${answer.total}`
  if (!samePage(expected, answer.seqs, question.sort, orders))
    return `page ${expected.slice(0, 5)} / ${answer.seqs.slice(0, 5)}`
  const other = otherRow(own.page.rows, answer)
  return other && `another row: ${other}`
}

async function answerOf(peer: Peer, question: PeerQuestion): Promise<PeerAnswer | null> {
  try {
    return await peer.ask(question)
  } catch (error) {
    if (error instanceof OverLimit) return null
    throw error
  }
}

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
