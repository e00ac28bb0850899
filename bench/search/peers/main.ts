import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { INDEX_STATE, type IndexState, openIndex, SEARCH_SETTINGS, type SearchIndex } from '../../../search/index.ts'
import { articleObject } from '../../../services/api/articles/shown-article.ts'
import { createPool, type Pool } from '../../../shared/postgres/pool.ts'
import { type Figures, quantile, quantiles, rounded, say, sum } from '../../figures.ts'
import { memoryMb, processes } from '../../processes.ts'
import type { SearchBench } from '../build.ts'
import { measureSizes } from '../build.ts'
import { shuffled } from '../generator.ts'
import { measureQuery, type QueryTimes, RUNS } from '../measure.ts'
import { type PeerQuestion, questionOf, readDocuments } from './documents.ts'
import { openLucene } from './lucene.ts'
import { LIMIT_MS, OverLimit, type Peer, type PeerAnswer, type PeerKey, type ShownArticle } from './peer.ts'
import { openPostgres } from './postgres.ts'

/** Peers would get a longer list of names than any of their users would write. */
const MOST_NAMES = 1_000
const MISMATCHES_SHOWN = 5

/** The results of one engine. */
interface Results {
  /** ms of each query, by class: the median of its runs, or the limit. */
  times: Map<string, number[]>
  overLimit: number
  /** Answers that were compared with Perscope's, and those that differ. */
  compared: number
  mismatches: string[]
  /** Questions, and ms of processor time for them. */
  asked: number
  cpu: number
}

/**
 * Asks Perscope and other engines the same questions of the same articles, cut into the same words,
 * and compares every answer with Perscope's. The indexes of the peers are kept for the next run, as
 * the archive is.
 *
 * @returns figures of Perscope under their usual names, of a peer as `peer_KEY_p50_ms` …
 */
export async function comparePeers(bench: SearchBench, keys: readonly PeerKey[]): Promise<Figures> {
  const pool = createPool(bench.url, 'bench', () => {}, { settings: SEARCH_SETTINGS })
  const index = openIndex(pool)
  const peers: Peer[] = []
  try {
    for (const key of keys) {
      const peer = await open(bench, key)
      if (peer !== null) peers.push(peer)
    }
    const built = await build(bench.signal, pool, index, peers)
    const { own, theirs } = await ask(bench, pool, index, peers)
    const { disk_mb = 0 } = await measureSizes(bench.url)
    const seconds = bench.seconds && bench.seconds.insert + bench.seconds.index
    const figures: Figures = { classes: bench.classes.length }
    Object.assign(figures, figuresOf('', own, memoryMb([process.pid]), disk_mb, seconds))
    for (const [peer, results] of theirs) {
      const memory = memoryMb(await peer.pids())
      const name = `peer_${peer.key}_`
      Object.assign(figures, figuresOf(name, results, memory, await peer.disk(), built.get(peer) ?? null))
      figures[`${name}compared`] = results.compared
      figures[`${name}mismatches`] = results.mismatches.length
      figures[`${name}over_limit`] = results.overLimit
      say(peer.title)
      for (const one of results.mismatches.slice(0, MISMATCHES_SHOWN)) say(`  ${one}`)
    }
    return figures
  } finally {
    for (const peer of peers) await peer.close().catch(error => say(`${peer.title}: ${error.message}`))
    await index.close()
    await pool.end()
  }
}

/** Files that decide what a peer's index holds, beside `documents.ts`. */
const RECIPES: Record<PeerKey, string> = { postgres: 'postgres.ts', lucene: 'Lucene.java' }

/** Another archive, or another way to store it, gets another name. */
async function open({ url, server, dataDir, servers, signal }: SearchBench, key: PeerKey): Promise<Peer | null> {
  const hash = createHash('sha256')
  for (const file of ['documents.ts', RECIPES[key]])
    hash.update(await readFile(new URL(`./${file}`, import.meta.url), 'utf8'))
  const name = `peer_${new URL(url).pathname.slice(7)}_${hash.digest('hex').slice(0, 8)}`
  if (key === 'postgres') return openPostgres(server, name)
  return openLucene(join(dataDir.path, 'lucene'), name, { family: servers.family, signal, report: say })
}

/** Gives the articles to the peers that lack them. @returns the seconds that each took */
async function build(signal: AbortSignal, pool: Pool, index: SearchIndex, peers: Peer[]): Promise<Map<Peer, number>> {
  const built = new Map(peers.filter(peer => !peer.built).map(peer => [peer, 0]))
  const timed = async (peer: Peer, work: () => Promise<void>) => {
    signal.throwIfAborted()
    const start = performance.now()
    await work()
    built.set(peer, built.get(peer)! + (performance.now() - start) / 1_000)
  }
  if (built.size === 0) return built
  for await (const documents of readDocuments(pool, index)) {
    for (const peer of built.keys()) await timed(peer, () => peer.add(documents))
  }
  for (const peer of built.keys()) await timed(peer, () => peer.finish())
  return built
}

/** Asks all queries, those of a class one after the other. */
async function ask({ signal, classes }: SearchBench, pool: Pool, index: SearchIndex, peers: Peer[]) {
  const own = empty()
  const theirs = new Map(peers.map(peer => [peer, empty()]))
  // The state of the index, as the API hands it to a search. Peers too open their searcher before
  // their clock starts.
  const { rows } = await pool.query<IndexState>(`select ${INDEX_STATE.columns} from ${INDEX_STATE.tables}`)
  const state = rows[0]!
  const mixed = shuffled(classes)
  // The first query of each class is asked before: a JVM needs some work before it is fast.
  for (const { queries } of mixed) {
    const question = await questionOf(pool, queries[0]!.query, null)
    for (const peer of hasMostNames(question) ? [] : peers) await answerOf(peer, question)
  }
  for (const [peer, results] of theirs) results.cpu = -(await processorMs(peer))
  for (const { name, query, deep } of mixed.flatMap(one => one.queries.map(({ query }) => ({ ...one, query })))) {
    signal.throwIfAborted()
    const used = process.cpuUsage()
    const measured = await measureQuery(index, query, deep, state)
    const { user, system } = process.cpuUsage(used)
    own.cpu += (user + system) / 1_000
    // Once as it comes, then warm.
    own.asked += 1 + RUNS
    add(own, name, measured.ms)
    const question = await questionOf(pool, query, measured.after?.position ?? null)
    for (const [peer, results] of hasMostNames(question) ? [] : theirs)
      await measurePeer(peer, question, name, measured, results)
  }
  for (const [peer, results] of theirs) results.cpu += await processorMs(peer)
  return { own, theirs }
}

const hasMostNames = ({ publisherNos, authorNos }: PeerQuestion) =>
  (publisherNos?.length ?? 0) + (authorNos?.length ?? 0) > MOST_NAMES

const empty = (): Results => ({ times: new Map(), overLimit: 0, compared: 0, mismatches: [], asked: 0, cpu: 0 })

const add = ({ times }: Results, name: string, ms: number) => void times.set(name, [...(times.get(name) ?? []), ms])

const processorMs = async (peer: Peer) => sum(processes(await peer.pids()).map(one => one.ms))

function figuresOf(name: string, results: Results, memory: number, disk: number, build: number | null): Figures {
  const classes = [...results.times.values()]
  return {
    ...quantiles(name, classes.flat(), [0.5, 0.95, 0.99]),
    [`${name}worst_class_ms`]: rounded(Math.max(...classes.map(times => quantile(times, 0.5)))),
    [`${name}cpu_ms`]: rounded(results.cpu / results.asked),
    [`${name}memory_mb`]: Math.round(memory),
    [`${name}disk_mb`]: Math.round(disk),
    ...(build !== null && { [`${name}build_s`]: Math.round(build) }),
  }
}

async function measurePeer(
  peer: Peer,
  question: PeerQuestion,
  name: string,
  own: QueryTimes,
  results: Results,
): Promise<void> {
  const runs: number[] = []
  const ask = async () => {
    const answer = await answerOf(peer, question)
    results.asked++
    runs.push(answer?.ms ?? LIMIT_MS)
    return answer
  }
  const first = await ask()
  if (first !== null) {
    results.compared++
    const ours = own.page.rows.map((row): ShownArticle => JSON.parse(JSON.stringify(articleObject(row))))
    const total = question.cap === null ? null : own.page.total
    if (first.total !== total || !samePage(ours, first.rows, question.sort))
      results.mismatches.push(`${name}, ${JSON.stringify(question.match)}: total ${total} / ${first.total}`)
    runs.length = 0
    for (let run = 0; run < RUNS; run++) await ask()
  }
  const ms = Math.min(quantile(runs, 0.5), LIMIT_MS)
  if (ms === LIMIT_MS) results.overLimit++
  add(results, name, ms)
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
 * True when a peer found Perscope's page, and shows the articles as Perscope does. Among articles
 * with the same time Perscope puts the closer match first. Peers need not: any order among them is
 * right, and any choice at the end of a page.
 */
export function samePage(ours: ShownArticle[], theirs: ShownArticle[], axis: PeerQuestion['sort']): boolean {
  if (ours.length !== theirs.length || new Set(theirs.map(row => row.id)).size < theirs.length) return false
  const own = new Map(ours.map(row => [row.id, row]))
  return theirs.every((row, at) => {
    const mine = own.get(row.id)
    if (row[axis] !== ours[at]![axis]) return false
    return mine === undefined ? row[axis] === ours.at(-1)![axis] : isDeepStrictEqual(row, mine)
  })
}
