import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { DataDirectory } from '../../../infra/embedded/data-directory.ts'
import type { EmbeddedServers } from '../../../infra/embedded/servers.ts'
import type { Pool } from '../../../shared/postgres/pool.ts'
import { openApi } from './api.ts'
import type { Orders } from './documents.ts'
import type { Running } from './line-program.ts'
import { openLucene } from './lucene/lucene.ts'
import { openMariadb } from './mariadb/mariadb.ts'
import { openOpensearch } from './opensearch/opensearch.ts'
import type { Peer, PeerKey } from './peer.ts'
import { openPostgres } from './postgres/postgres.ts'
import { openSqlite } from './sqlite/sqlite.ts'
import { openTantivy } from './tantivy/tantivy.ts'

export interface Opening {
  dataDir: DataDirectory
  servers: EmbeddedServers
  /** Address of Perscope's archive, and a pool on it. */
  url: string
  pool: Pool
  orders: Orders
  running: Running
}

/** @returns null, with a sentence to `running.report`, where the engine cannot run here */
export async function openPeer(key: PeerKey, opening: Opening): Promise<Peer | null> {
  const { dataDir, servers, url, pool, orders, running } = opening
  const name = await nameOf(key, url)
  switch (key) {
    case 'api':
      return openApi(servers, dataDir, url, pool)
    case 'postgres':
      return openPostgres(servers.addresses.DATABASE_URL!, name)
    case 'sqlite':
      return openSqlite(join(dataDir.path, `${name}.sqlite`))
    case 'mariadb':
      return openMariadb(join(dataDir.path, 'mariadb'), name, orders, servers, running)
    case 'tantivy':
      return openTantivy(join(dataDir.path, 'tantivy'), name, orders, running)
    case 'lucene':
      return openLucene(join(dataDir.path, 'lucene'), name, orders, running)
    case 'opensearch':
      return openOpensearch(join(dataDir.path, 'opensearch'), name, orders, servers, running)
  }
}

/** Files that decide what a peer's index holds, beside `documents.ts`. */
const RECIPES: Record<PeerKey, string[]> = {
  api: [],
  postgres: ['postgres/postgres.ts'],
  sqlite: ['sqlite/sqlite.ts'],
  mariadb: ['mariadb/mariadb.ts', 'mariadb/server.ts'],
  tantivy: ['tantivy/tantivy.py'],
  lucene: ['lucene/Lucene.java'],
  opensearch: ['opensearch/mapping.ts'],
}

/** Where the queries of such a file begin; all that follows is about them. */
const QUERIES = /\n(?:(?:async )?function (?:ask|pageOf|conditionsOf)|def compile| *static void serve)\b[\s\S]*$/

/** Another archive, or another way to store it, gets another name. */
export async function nameOf(key: PeerKey, url: string): Promise<string> {
  const hash = createHash('sha256')
  for (const file of ['documents.ts', ...RECIPES[key]]) {
    const text = await readFile(new URL(`./${file}`, import.meta.url), 'utf8')
    // Covers the tables and the data in them, not the queries.
    hash.update(text.replace(QUERIES, ''))
  }
  return `peer_${new URL(url).pathname.slice(7)}_${hash.digest('hex').slice(0, 8)}`
}
