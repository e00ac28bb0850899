import { setTimeout } from 'node:timers/promises'
import type { Pool } from '../../../shared/postgres/pool.ts'
import type { ApiProcess } from './api.ts'
import { load } from './load.ts'

const SECONDS = 10
const CONNECTIONS = [1, 8, 64]
/** ms after which the database's counters show all that has happened. */
const SETTLED = 2_000

/** A poll that finds nothing new. */
interface Poll {
  path: string
  headers: Record<string, string>
}

export interface PollBench {
  api: ApiProcess
  /** Of the archive. */
  pool: Pool
  key: string
  signal: AbortSignal
  say: (line: string) => void
}

/**
 * Polls with nothing new: empty pages after the newest article, and pages and feeds that the client
 * has. Their processor time and their statements, by number of connections: requests of one key
 * that come together share statements.
 */
export async function measurePolls(
  { api, pool, key, signal, say }: PollBench,
  name: string,
): Promise<{ figures: Record<string, number>; failures: number }> {
  const polls = await findPolls(api.base, key)
  const figures: Record<string, number> = {}
  let failures = 0
  for (const connections of CONNECTIONS) {
    const before = { cpu: (await api.usage()).cpu, statements: await statementsOf(pool) }
    const loaded = await load(api.base, key, polls, connections, { seconds: SECONDS }, signal, [200, 304])
    const cpu = (((await api.usage()).cpu - before.cpu) * 1_000) / loaded.requests
    const statements = ((await statementsOf(pool)) - before.statements) / loaded.requests
    failures += loaded.failures
    figures[`${name}_${connections}_per_s`] = rounded(loaded.perSecond)
    figures[`${name}_${connections}_cpu_ms`] = rounded(cpu)
    figures[`${name}_${connections}_statements`] = rounded(statements)
    say(
      `${name}, ${connections} connections: ${loaded.perSecond.toFixed(0)} requests/s, ${cpu.toFixed(3)} ms of processor time and ${statements.toFixed(2)} statements each, ${loaded.failures} failed`,
    )
  }
  return { figures, failures }
}

/** Statements of this database so far: each is a transaction of its own. */
async function statementsOf(pool: Pool): Promise<number> {
  await setTimeout(SETTLED)
  const { rows } = await pool.query<{ commits: number }>(
    'select xact_commit::float8 as commits from pg_stat_database where datname = current_database()',
  )
  return rows[0]!.commits
}

async function findPolls(base: string, key: string): Promise<Poll[]> {
  const ask = (path: string) => fetch(`${base}${path}`, { headers: { authorization: `Bearer ${key}` } })
  const first = await (await ask('/v1/articles?sort=ingested_at&per_page=1')).text()
  const newest: { articles: { ingested_at: string }[] } = JSON.parse(first)
  const after = new Date(Date.parse(newest.articles[0]!.ingested_at) + 1).toISOString()
  const kept = ['/v1/articles?country=NL', '/v1/articles?q=brug&per_page=100', '/v1/articles.rss?country=BE']
  return [
    ...['', '&q=brug', '&country=NL'].map(filter => ({
      path: `/v1/articles?sort=ingested_at&order=asc&ingested_after=${after}${filter}`,
      headers: {},
    })),
    ...(await Promise.all(
      kept.map(async path => ({ path, headers: { 'if-none-match': (await ask(path)).headers.get('etag') ?? '' } })),
    )),
  ]
}

const rounded = (value: number) => Math.round(value * 1_000) / 1_000
