import { loadavg } from 'node:os'
import type { DataDirectory } from '../../../infra/embedded/data-directory.ts'
import type { EmbeddedServers } from '../../../infra/embedded/servers.ts'
import { createPool } from '../../../shared/postgres/pool.ts'
import type { QueryClass } from '../classes.ts'
import { type Archive, shuffled } from '../generator.ts'
import { benchKey, deleteKeys, pathOf, startApiProcess } from '../http/api.ts'
import { hardClasses, measureHard } from './hard.ts'
import { measureRolling } from './rolling.ts'
import { createClient, measureStart } from './start.ts'

/** Queries of each hard class. */
const QUERIES = 3

export interface ColdBench {
  rows: number
  dataDir: DataDirectory
  servers: EmbeddedServers
  url: string
  archive: Archive
  classes: QueryClass[]
  signal: AbortSignal
  say: (line: string) => void
}

/**
 * Requests that nobody has sent before: a process that has just started, queries as hard as the
 * contract allows whose words are asked for the first time, and two processes that are replaced
 * under load.
 */
export async function measureCold(bench: ColdBench): Promise<Record<string, number>> {
  const { servers, dataDir, url, archive, rows, classes, signal, say } = bench
  const pool = createPool(url, 'bench', () => {})
  const paths = shuffled(classes.flatMap(one => one.queries.map(pathOf)))
  const key = await benchKey(pool, null)
  const client = createClient(key.secret)
  const start = (processes: number) => startApiProcess(servers, dataDir, url, { processes })
  try {
    const begun = performance.now()
    const api = await start(1)
    const readyMs = performance.now() - begun
    const started = await measureStart({ api, rows, readyMs, client, classes, paths, signal, say }).finally(() =>
      api.stop(),
    )
    const light = classes.filter(one => /^(listing|medium|rare) · .* · (first page|ascending)$/.test(one.name))
    const hard = await measureHard({ url, hard: hardClasses(archive, QUERIES), light, signal, say })
    const rolling = await measureRolling({ start, client, paths, signal, say })
    say(`load ${loadavg()[0]!.toFixed(1)}`)
    return { ...started, ...hard, ...rolling }
  } finally {
    client.close()
    await deleteKeys(pool, [key.id])
    await pool.end()
  }
}
