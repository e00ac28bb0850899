import type { DataDirectory } from '../../infra/embedded/data-directory.ts'
import type { EmbeddedServers } from '../../infra/embedded/servers.ts'
import { createPool } from '../../shared/postgres/pool.ts'
import { queryClasses } from '../search/classes.ts'
import { createClient } from '../search/cold/client.ts'
import { measureStart } from '../search/cold/start.ts'
import type { Archive } from '../search/generator.ts'
import { startApiProcess } from '../search/http/api.ts'
import { benchKey, deleteKeys } from '../search/http/keys.ts'
import { pathOf } from '../search/http/urls.ts'
import { shuffled } from '../search/shuffled.ts'
import { rounded } from './rounds.ts'

const QUERIES = 5
/** The lists of all queries fit, of the larger archive too. */
const POSTINGS = '2000MB'

/** The servers and the folder of an API process. */
export interface ServedBy {
  dataDir: DataDirectory
  servers: EmbeddedServers
}

/** An API process on an archive: its start, its first seconds, warm, and its memory at the end. */
export async function measureProcess(
  bench: ServedBy & { url: string; archive: Archive; rows: number; signal: AbortSignal; say: (line: string) => void },
): Promise<Record<string, number>> {
  const { dataDir, servers, url, archive, rows, signal, say } = bench
  const classes = queryClasses(archive, QUERIES)
  const paths = shuffled(classes.flatMap(one => one.queries.map(pathOf)))
  const pool = createPool(url, 'bench', () => {})
  const key = await benchKey(pool, null)
  const client = createClient(key.secret)
  try {
    const begun = performance.now()
    const api = await startApiProcess(servers, dataDir, url, {
      name: 'growth',
      env: { SEARCH_CACHE_POSTINGS: POSTINGS },
    })
    try {
      const readyMs = performance.now() - begun
      const ready = await api.usage()
      const started = await measureStart({ api, rows, readyMs, client, classes, paths, signal, say })
      const warm = await api.usage()
      return { ...started, ready_rss_mb: rounded(ready.memory), warm_rss_mb: rounded(warm.memory) }
    } finally {
      await api.stop()
    }
  } finally {
    client.close()
    await deleteKeys(pool, [key.id])
    await pool.end()
  }
}
