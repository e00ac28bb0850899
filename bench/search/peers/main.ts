import { isDeepStrictEqual } from 'node:util'
import { type Figures, quantile, quantiles, rounded, say, sum } from '#bench/figures'
import { memoryMb, processes } from '#bench/processes'
import { measureSizes, type SearchBench } from '#bench/search/build'
import { shuffled } from '#bench/search/generator'
import { measureQuery, RUNS, timed, withIndex } from '#bench/search/measure'
import { INDEX_STATE, type IndexState, type SearchIndex } from '#search/index'
import { articleObject } from '#services/api/articles/shown-article'
import type { Pool } from '#shared/postgres/pool'
import { type PeerDocument, type PeerQuestion, questionOf, readDocuments } from './documents.ts'
import { compareHttp } from './http.ts'
import { withLucene } from './lucene.ts'
import { withOpensearch } from './opensearch.ts'
import { LIMIT_MS, type Peer, type PeerKey, type ShownArticle } from './peer.ts'
import { withPostgres } from './postgres.ts'

/**
 * No user of the peers would write a longer list of names, so the bench leaves out questions with
 * longer ones.
 */
const MOST_NAMES = 1_000
const MISMATCHES_SHOWN = 5
const HTTP_SECONDS = 10

/** A question, and Perscope's answer. */
interface Answered {
  className: string
  /** The request for its first page. */
  path: string
  question: PeerQuestion
  rows: ShownArticle[]
  total: number | null
  /** The median of the runs, ms. */
  ms: number
}

const WITH = { postgres: withPostgres, lucene: withLucene, opensearch: withOpensearch }

/**
 * This index keeps no answer of an earlier search, because the peers keep none. Words stay in
 * memory.
 */
const NOTHING_KEPT = { counts: 1, verified: 1 }

/**
 * Asks Perscope and other engines the same questions about the same articles, whose words are the
 * same for all engines. It compares every answer with Perscope's answer.
 *
 * @param seconds of each load over HTTP, for peers that are servers
 * @returns figures of Perscope, when it keeps no answers, under their usual names; figures of a
 * peer as `peer_KEY_p50_ms` …; and figures of Perscope as it normally runs as `kept_p50_ms` …
 */
export async function comparePeers(
  bench: SearchBench,
  keys: readonly PeerKey[],
  seconds = HTTP_SECONDS,
): Promise<Figures> {
  const kept = await withIndex(bench.url, (index, pool) => askPerscope(bench, pool, index))
  const work = async (index: SearchIndex, pool: Pool) => {
    const { answered, cpu } = await askPerscope(bench, pool, index)
    const { disk_mb = 0 } = await measureSizes(bench.url)
    const build = bench.seconds && bench.seconds.insert + bench.seconds.index
    const own = { cpu, memory: memoryMb([process.pid]), disk: disk_mb, build }
    const answers = (all: Answered[]) => all.map(({ rows, total }) => ({ rows, total }))
    const figures: Figures = {
      classes: bench.classes.length,
      ...figuresOf('', answered, own),
      ...quantiles('round_trip_', await roundTrips(pool), PARTS),
      ...quantiles('kept_', timesOf(kept.answered), PARTS),
      kept_cpu_ms: rounded(kept.cpu),
      kept_mismatches: isDeepStrictEqual(answers(kept.answered), answers(answered)) ? 0 : 1,
    }
    const measure = async (peer: Peer) => {
      say(peer.title)
      const build = await buildPeer(peer, readDocuments(pool, index), bench.signal)
      say(`Built in ${Math.round(build)} s.`)
      Object.assign(figures, await askPeer(peer, answered, build, bench.signal))
      if (peer.http) {
        const { base, request } = peer.http
        const asked = answered.filter(one => one.question.after === null && isShort(one))
        const requests = asked.map(one => request(one.question))
        const served = { name: peer.key, base, requests, pids: await peer.pids() }
        Object.assign(
          figures,
          await compareHttp(
            bench,
            asked.map(one => one.path),
            served,
            seconds,
          ),
        )
      }
    }
    for (const key of keys) await WITH[key](bench, measure)
    return figures
  }
  return withIndex(bench.url, work, NOTHING_KEPT)
}

const PARTS = [0.5, 0.95, 0.99, 1]
const ROUND_TRIPS = 5_000

/**
 * ms of the shortest statement by the driver that searches use. A search that waits for Postgres
 * once cannot be faster.
 */
async function roundTrips(pool: Pool): Promise<number[]> {
  const times: number[] = []
  for (let number = 0; number < ROUND_TRIPS; number++)
    times.push(await timed(() => pool.query({ name: 'round_trip', text: 'select 1' })))
  return times
}

const timesOf = (asked: { ms: number }[]) => asked.map(({ ms }) => ms)

/** Builds the index of a peer. @returns the seconds, without those for reading the articles */
async function buildPeer(
  peer: Peer,
  articles: AsyncIterable<PeerDocument[]>,
  signal: AbortSignal,
): Promise<number> {
  let ms = 0
  for await (const documents of articles) {
    signal.throwIfAborted()
    ms += await timed(() => peer.add(documents))
  }
  return (ms + (await timed(() => peer.finish()))) / 1_000
}

/**
 * Asks Perscope all queries. Queries of a class follow each other. `cpu` is the processor time of
 * one query, ms.
 */
async function askPerscope({ signal, classes }: SearchBench, pool: Pool, index: SearchIndex) {
  const answered: Answered[] = []
  // The bench reads the state of the index before the clock starts, because a search of the API
  // gets a state that was read before. Peers open their searcher before their clock starts, too.
  const { rows } = await pool.query<IndexState>(
    `select ${INDEX_STATE.columns} from ${INDEX_STATE.tables}`,
  )
  let spent = 0
  for (const { name: className, queries, deep } of shuffled(classes)) {
    for (const { path, query } of queries) {
      signal.throwIfAborted()
      const used = process.cpuUsage()
      const { ms, page, after } = await measureQuery(index, query, deep, rows[0])
      const { user, system } = process.cpuUsage(used)
      spent += user + system
      const question = await questionOf(pool, query, after)
      const shown = page.rows.map(
        (row): ShownArticle => JSON.parse(JSON.stringify(articleObject(row))),
      )
      answered.push({
        className,
        path,
        question,
        rows: shown,
        total: question.cap === null ? null : page.total,
        ms,
      })
    }
  }
  // `measureQuery` runs each query once, and then `RUNS` times.
  return { answered, cpu: spent / 1_000 / answered.length / (1 + RUNS) }
}

async function askPeer(
  peer: Peer,
  answered: Answered[],
  build: number,
  signal: AbortSignal,
): Promise<Figures> {
  const own = answered.filter(isShort)
  // Before the clock starts, the peer answers the first query of each class: a JVM needs some work
  // before it is fast.
  for (const [first] of Map.groupBy(own, one => one.className).values())
    await peer.ask(first!.question)
  const before = await processorMs(peer)
  const mismatches: string[] = []
  const times: { className: string; ms: number }[] = []
  let compared = 0
  let asked = 0
  for (const { className, question, rows, total } of own) {
    signal.throwIfAborted()
    const runs: number[] = []
    const ask = async () => {
      const answer = await peer.ask(question)
      asked++
      runs.push(Math.min(answer?.ms ?? LIMIT_MS, LIMIT_MS))
      return answer
    }
    const first = await ask()
    if (first !== null) {
      compared++
      if (first.total !== total || !samePage(rows, first.rows, question.sort))
        mismatches.push(
          `${className}, ${JSON.stringify(question.match)}: total ${total} / ${first.total}`,
        )
      runs.length = 0
      for (let run = 0; run < RUNS; run++) await ask()
    }
    times.push({ className, ms: quantile(runs, 0.5) })
  }
  const cpu = ((await processorMs(peer)) - before) / asked
  for (const one of mismatches.slice(0, MISMATCHES_SHOWN)) say(`  ${one}`)
  const name = `peer_${peer.key}_`
  return {
    ...figuresOf(name, times, {
      cpu,
      memory: memoryMb(await peer.pids()),
      disk: await peer.disk(),
      build,
    }),
    [`${name}compared`]: compared,
    [`${name}mismatches`]: mismatches.length,
    [`${name}over_limit`]: times.filter(({ ms }) => ms === LIMIT_MS).length,
  }
}

const isShort = ({ question: { publisherNos, authorNos } }: Answered): boolean =>
  (publisherNos?.length ?? 0) + (authorNos?.length ?? 0) <= MOST_NAMES

const processorMs = async (peer: Peer) => sum(processes(await peer.pids()).map(one => one.ms))

function figuresOf(
  name: string,
  asked: { className: string; ms: number }[],
  { cpu, memory, disk, build }: { cpu: number; memory: number; disk: number; build: number | null },
): Figures {
  const classes = [...Map.groupBy(asked, one => one.className).values()].map(all =>
    all.map(({ ms }) => ms),
  )
  return {
    ...quantiles(name, timesOf(asked), PARTS),
    [`${name}worst_class_ms`]: rounded(Math.max(...classes.map(times => quantile(times, 0.5)))),
    [`${name}cpu_ms`]: rounded(cpu),
    [`${name}memory_mb`]: Math.round(memory),
    [`${name}disk_mb`]: Math.round(disk),
    ...(build !== null && { [`${name}build_s`]: Math.round(build) }),
  }
}

/**
 * Whether a peer found Perscope's page, and shows the articles as Perscope does. Among articles
 * with the same time, Perscope puts the closer match first, but peers need not. So any order among
 * them is right, and any choice of them at the end of a page.
 */
export function samePage(
  ours: ShownArticle[],
  theirs: ShownArticle[],
  axis: PeerQuestion['sort'],
): boolean {
  if (ours.length !== theirs.length || new Set(theirs.map(row => row.id)).size < theirs.length)
    return false
  const own = new Map(ours.map(row => [row.id, row]))
  return theirs.every((row, at) => {
    const mine = own.get(row.id)
    if (row[axis] !== ours[at]![axis]) return false
    return mine === undefined ? row[axis] === ours.at(-1)![axis] : isDeepStrictEqual(row, mine)
  })
}
