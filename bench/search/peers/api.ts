import type { DataDirectory } from '../../../infra/embedded/data-directory.ts'
import type { EmbeddedServers } from '../../../infra/embedded/servers.ts'
import type { Pool } from '../../../shared/postgres/pool.ts'
import { benchKey, deleteKeys, pathOf, startApiProcess } from '../http/api.ts'
import { type HttpClient, openHttp } from './http-client.ts'
import type { Peer, PeerAnswer } from './peer.ts'
import type { PeerQuestion } from './questions.ts'
import { backendsOf, memoryMb, postgresMemoryMb, processorMs } from './usage.ts'

/** Pages that are walked to the one before a deep page. */
const DEEPEST = 20

/** Perscope's own API, as a process that clients ask over HTTP with a key. */
export async function openApi(
  servers: EmbeddedServers,
  dataDir: DataDirectory,
  url: string,
  pool: Pool,
): Promise<Peer> {
  const api = await startApiProcess(servers, dataDir, url)
  const key = await benchKey(pool, null)
  const http = openHttp(Number(new URL(api.base).port), { authorization: `Bearer ${key.secret}` })
  const cursors = new WeakMap<PeerQuestion, string>()
  return {
    key: 'api',
    title: 'Perscope over HTTP',
    settings:
      'a process of the API, asked with a key without a quota; processor time and memory are of the API and of Postgres',
    built: true,
    present: 0,
    add: async () => {},
    finish: async () => {},
    async ask(question) {
      const cursor = cursors.get(question) ?? (await cursorBefore(http, question))
      cursors.set(question, cursor)
      const pids = [api.pid(), ...(await backendsOf(pool, 'api'))]
      return ask(http, question, cursor, pids)
    },
    async size() {
      return { memory: memoryMb([api.pid()]) + (await postgresMemoryMb(pool)), disk: await databaseMb(pool) }
    },
    async close() {
      http.close()
      await deleteKeys(pool, [key.id])
      await api.stop()
    },
  }
}

export async function databaseMb(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ mb: number }>('select (pg_database_size(current_database()) / 1e6)::float8 as mb')
  return rows[0]!.mb
}

/** The fields of a page that are read here. */
interface Page {
  total_results: number
  next_cursor: string | null
  articles: { id: string }[]
}

/** The cursor of the question's page; empty: it is the first. */
async function cursorBefore(http: HttpClient, { query, after }: PeerQuestion): Promise<string> {
  let cursor = ''
  for (let pages = 0; after !== null && pages < DEEPEST; pages++) {
    const page: Page = JSON.parse((await http.send('GET', pathWith(query, cursor))).text)
    cursor = page.next_cursor ?? ''
    if (page.articles.at(-1)?.id === after.id) return cursor
  }
  if (after !== null) throw new Error(`The API has no page behind the article ${after.id}.`)
  return cursor
}

const pathWith = (query: PeerQuestion['query'], cursor: string) =>
  `${pathOf(query)}${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`

async function ask(
  http: HttpClient,
  { query, cap, found }: PeerQuestion,
  cursor: string,
  pids: number[],
): Promise<PeerAnswer> {
  const path = pathWith(query, cursor)
  const processor = processorMs(pids)
  const { text, ms } = await http.send('GET', path)
  const cpuMs = processorMs(pids) - processor
  const page: Page = JSON.parse(text)
  const seqs = new Map(found.map(row => [row.id, Number(row.seq)]))
  return {
    // No article has the number 0.
    seqs: page.articles.map(({ id }) => seqs.get(id) ?? 0),
    rows: page.articles.map(article => JSON.stringify(article)),
    total: cap === null ? null : page.total_results,
    ...{ ms, cpuMs },
  }
}
