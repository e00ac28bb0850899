import { benchKey, withApi } from '#bench/api'
import { type Figures, quantiles, rounded, say, sum } from '#bench/figures'
import { type Asking, createClient, type Load, load, timesOf } from '#bench/load'
import { memoryMb, processes } from '#bench/processes'
import type { SearchBench } from '#bench/search/build'
import { shuffled } from '#bench/search/generator'
import { withDatabase } from '#test/database'

const CONNECTIONS = [1, 8, 64]
/** Both are asked this often, in turn, so that they meet the same noise of the machine. */
const ROUNDS = 2
const PARTS = [0.5, 0.95, 0.99]

/** A server that answers over HTTP, and the same questions in its own form. */
export interface Served {
  /** How names of figures begin. */
  name: string
  base: string
  requests: Asking[]
  /** The ids of the processes that work for an answer. */
  pids: number[]
}

/**
 * Asks Perscope's API and another server the same questions over HTTP, in turn, as fast as both
 * answer, after each has answered all of them once.
 *
 * @param paths of the API; the first pages with totals
 * @param seconds of each load
 * @returns `http_NAME_CONNECTIONS_…`: requests a second, ms, and processor ms of one request with
 *   all processes of the server, Postgres too; `http_NAME_mb` is their memory
 */
export const compareHttp = (
  bench: SearchBench,
  paths: string[],
  peer: Served,
  seconds: number,
): Promise<Figures> =>
  withDatabase(bench.url, async database => {
    const key = await benchKey(database, 2_000_000_000)
    return withApi(bench, bench.url, {}, async api => {
      const own: Served = {
        name: 'perscope',
        base: api.base,
        requests: shuffled(paths).map(path => ({ path })),
        pids: [],
      }
      const other = { ...peer, requests: shuffled(peer.requests) }
      await ask(own, key, 8, { requests: paths.length }, bench.signal)
      await ask(other, key, 8, { requests: paths.length }, bench.signal)
      const { rows } = await database.query<{ pid: number }>('select pid from pg_stat_activity')
      own.pids = [api.pid(), ...rows.map(row => row.pid)]
      const figures: Figures = {}
      for (const connections of CONNECTIONS) {
        const loads = new Map([own, other].map(server => [server, [] as Spent[]]))
        for (let round = 0; round < ROUNDS; round++)
          for (const [server, seen] of loads)
            seen.push(await ask(server, key, connections, { seconds }, bench.signal))
        for (const [{ name }, seen] of loads) {
          const asked = seen.flatMap(one => one.asked)
          const prefix = `http_${name}_${connections}_`
          Object.assign(figures, {
            [`${prefix}per_s`]: rounded(sum(seen.map(one => one.perSecond)) / ROUNDS, 0),
            [`${prefix}cpu_ms`]: rounded(sum(seen.map(one => one.spent)) / asked.length, 3),
            ...quantiles(prefix, timesOf(asked), PARTS),
            [`${prefix}failures`]: sum(seen.map(one => one.failures)),
          })
        }
        say(
          `Over ${connections} connections: ${rounded(ratioOf(figures, peer.name, connections))} × the requests of ${peer.name}`,
        )
      }
      for (const { name, pids } of [own, other])
        figures[`http_${name}_mb`] = Math.round(memoryMb(pids))
      return figures
    })
  })

const ratioOf = (figures: Figures, name: string, connections: number): number =>
  figures[`http_perscope_${connections}_per_s`]! / figures[`http_${name}_${connections}_per_s`]!

/** A load, and the ms of processor time that the server spent on it. */
type Spent = Load & { spent: number }

async function ask(
  { base, requests, pids }: Served,
  key: string,
  connections: number,
  until: Parameters<typeof load>[3],
  signal: AbortSignal,
): Promise<Spent> {
  const client = createClient(base, key, connections)
  const used = () => sum(processes(pids).map(one => one.ms))
  const before = used()
  const loaded = await load(client, requests, connections, until, signal).finally(() =>
    client.close(),
  )
  return { ...loaded, spent: used() - before }
}
