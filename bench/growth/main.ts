import { join, resolve } from 'node:path'
import { type DataDirectory, openDataDirectory } from '../../infra/embedded/data-directory.ts'
import { type EmbeddedServers, startServers } from '../../infra/embedded/servers.ts'
import { readConfig } from '../../shared/config/config.ts'
import { createPool } from '../../shared/postgres/pool.ts'
import type { BenchOptions } from '../main.ts'
import { type BuiltArchive, buildArchive, measureSizes } from '../search/build.ts'
import { queryClasses } from '../search/classes.ts'
import { createClient, measureStart } from '../search/cold/start.ts'
import { type Archive, shuffled } from '../search/generator.ts'
import { benchKey, deleteKeys, pathOf, startApiProcess } from '../search/http/api.ts'
import { measureClasses } from '../search/main.ts'

const ROWS = 10_000_000
/** The archive beside it has this part of the articles. */
const SMALLER = 10
/** Words of a body: a tenth of the usual length, so that the archive fits a small disk. */
const WORDS = 40
/** Each archive is measured so often, in turn with the other. */
const ROUNDS = 2

const say = (line: string) => void process.stderr.write(`${line}\n`)

type Figures = Record<string, number>

/**
 * Compares a large archive with one of a tenth of its articles, in turn: time to build, size on
 * disk, searches in process, and an API process from its start on. Bodies are short, so that the
 * disk holds the large one. The number of documents is what decides the time of a search.
 *
 * @returns figures of both, and `growth_p95`: p95 of the large archive by p95 of the small one
 */
export async function run(options: BenchOptions): Promise<Figures> {
  const rows = options.rows ?? ROWS
  const words = options.words ?? WORDS
  const dataDir = await openDataDirectory(
    resolve(join(readConfig().DATA_DIR, 'bench-search')),
    'npm run bench -- growth',
  )
  const servers = await startServers(dataDir, { servers: ['postgres'], report: say, signal: options.signal })
  try {
    const build = (count: number) => buildArchive(servers.addresses.DATABASE_URL!, count, options.signal, words)
    const archives = {
      small: await build(Math.max(1, Math.round(rows / SMALLER))),
      large: await build(rows),
    }
    const figures: Figures = { rows, words }
    for (const [name, { url, seconds }] of Object.entries(archives)) {
      Object.assign(figures, prefixed(name, await measureSizes(url)))
      if (seconds !== null) figures[`${name}_build_s`] = rounded(seconds.insert + seconds.index)
    }
    Object.assign(figures, await measureInTurn(archives, { dataDir, servers, signal: options.signal }))
    return figures
  } finally {
    await servers.stop()
    dataDir.release()
  }
}

async function measureInTurn(
  archives: Record<'small' | 'large', BuiltArchive>,
  by: ServedBy & { signal: AbortSignal },
): Promise<Figures> {
  const seen: Record<'small' | 'large', Figures[]> = { small: [], large: [] }
  for (let round = 1; round <= ROUNDS; round++) {
    for (const name of ['small', 'large'] as const) {
      const { url, rows, archive } = archives[name]
      say(`Round ${round}, the ${name} archive, in process …`)
      const searched = await measureClasses(url, archive, by.signal)
      say(`Round ${round}, the ${name} archive, an API process …`)
      seen[name].push({ ...searched, ...(await measureProcess({ ...by, url, rows, archive, say })) })
    }
  }
  const small = medians(seen.small)
  const large = medians(seen.large)
  return {
    ...prefixed('small', small),
    ...prefixed('large', large),
    growth_p50: rounded(large.p50_ms! / small.p50_ms!),
    growth_p95: rounded(large.p95_ms! / small.p95_ms!),
    growth_again_p50: rounded(large.again_p50_ms! / small.again_p50_ms!),
    growth_again_p95: rounded(large.again_p95_ms! / small.again_p95_ms!),
    growth_warm_p95: rounded(large.warm_p95_ms! / small.warm_p95_ms!),
  }
}

function medians(rounds: Figures[]): Figures {
  const names = Object.keys(rounds[0] ?? {})
  return Object.fromEntries(names.map(name => [name, median(rounds.map(round => round[name]!))]))
}

const prefixed = (name: string, figures: Figures): Figures =>
  Object.fromEntries(Object.entries(figures).map(([figure, value]) => [`${name}_${figure}`, value]))

const QUERIES = 5
/** The lists of all queries fit, of the larger archive too. */
const CACHES = '4400MB'

/** The servers and the folder of an API process. */
interface ServedBy {
  dataDir: DataDirectory
  servers: EmbeddedServers
}

/** An API process on an archive: its start, its first seconds, warm, and its memory at the end. */
async function measureProcess(
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
      env: { SEARCH_CACHE: CACHES },
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

const rounded = (value: number) => Math.round(value * 100) / 100

/** The middle of some figures, the mean of the two middle ones when their number is even. */
function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  return rounded(sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2)
}
