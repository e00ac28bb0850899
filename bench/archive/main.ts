import { join, resolve } from 'node:path'
import { type DataDirectory, openDataDirectory } from '../../infra/embedded/data-directory.ts'
import { type EmbeddedServers, startServers } from '../../infra/embedded/servers.ts'
import { type ArchiveSettings, openIndex, SEARCH_SETTINGS, type SearchIndex } from '../../search/index.ts'
import { openArchiveWriter } from '../../search/indexer.ts'
import { readConfig } from '../../shared/config/config.ts'
import { createPool, type Pool } from '../../shared/postgres/pool.ts'
import type { BenchOptions } from '../main.ts'
import { buildArchive } from '../search/build.ts'
import { type QueryClass, queryClasses } from '../search/classes.ts'
import { BODY_WORDS } from '../search/generator.ts'
import { measureQuery, quantile } from '../search/measure.ts'
import { OPENSEARCH_HEAP, type OpensearchServer, startOpensearch } from '../search/peers/opensearch/server.ts'
import { diskMb, memoryMb, processorMs } from '../search/peers/usage.ts'
import { measureSizes } from '../search/sizes.ts'

const ROWS = 20_000
/** Of each class; a question to OpenSearch takes long. */
const QUERIES = 2
/** ms for one search. */
const TIMEOUT = 60_000

const say = (line: string) => void process.stderr.write(`${line}\n`)

/**
 * Times the archive index in OpenSearch beside segments in Postgres: the same articles and queries,
 * asked in turn through the API's own search function, with one node of OpenSearch. Every page and
 * its total are compared.
 *
 * @returns p50, p95 and the slowest class of both, in ms, with sizes and the time to build
 */
export async function run({ rows, words, signal }: BenchOptions): Promise<Record<string, number>> {
  const folder = resolve(join(readConfig().DATA_DIR, 'bench-search'))
  const dataDir = await openDataDirectory(folder, 'npm run bench -- archive')
  const servers = await startServers(dataDir, { servers: ['postgres'], report: say, signal })
  try {
    return await measure({ rows: rows ?? ROWS, words: words ?? BODY_WORDS }, dataDir, servers, signal)
  } finally {
    await servers.stop()
    dataDir.release()
  }
}

async function measure(
  { rows, words }: { rows: number; words: number },
  dataDir: DataDirectory,
  servers: EmbeddedServers,
  signal: AbortSignal,
): Promise<Record<string, number>> {
  const name = words === BODY_WORDS ? `${rows}` : `${rows}-${words}w`
  const data = join(dataDir.path, `archive-${name}`)
  const opensearch = await startOpensearch(data, servers, { family: servers.family, signal, report: say })
  if (opensearch === null) return { rows, words }
  const { url, archive, seconds } = await buildArchive(servers.addresses.DATABASE_URL!, rows, signal, words)
  const settings: ArchiveSettings = {
    ...{ nodes: [`http://127.0.0.1:${opensearch.port}`], user: '', password: '' },
    ...{ prefix: `bench-${name}`, timeout: TIMEOUT },
  }
  const pool = createPool(url, 'bench', () => {}, { settings: SEARCH_SETTINGS })
  const [segments, archived] = [openIndex(pool), openIndex(pool, { archive: settings })]
  try {
    const built = await fill(pool, settings, signal)
    say(`OpenSearch has a heap of ${OPENSEARCH_HEAP} MB, one shard for each index, no replica.`)
    const compared = await compare(segments, archived, queryClasses(archive, QUERIES), opensearch, signal)
    const { disk_segments_mb: segmentsMb } = await measureSizes(url)
    return {
      ...{ rows, words },
      ...compared,
      ...(built === null ? {} : { archive_build_s: built }),
      ...(seconds === null ? {} : { segments_build_s: seconds.index }),
      ...(segmentsMb === undefined ? {} : { segments_disk_mb: segmentsMb }),
      archive_disk_mb: Math.round(await diskMb(join(data, 'data'))),
      archive_memory_mb: Math.round(memoryMb([opensearch.pid])),
    }
  } finally {
    await Promise.all([segments.close(), archived.close()])
    await pool.end()
    await opensearch.server.stop()
  }
}

/** @returns seconds; null: it stood from an earlier run */
async function fill(pool: Pool, settings: ArchiveSettings, signal: AbortSignal): Promise<number | null> {
  const options = { size: 5_000_000n, recent: 0n, shards: 1, replicas: 0 }
  const writer = openArchiveWriter(pool, settings, options)
  try {
    const due = await writer.countDue()
    if (due === 0) return null
    say(`Putting ${due} articles into OpenSearch …`)
    const start = performance.now()
    await writer.fill(async () => {}, signal)
    signal.throwIfAborted()
    return Math.round((performance.now() - start) / 1_000)
  } finally {
    await writer.close()
  }
}

interface Side {
  times: number[]
  cold: number[]
  /** Median of each class. */
  classes: { name: string; ms: number }[]
}

const newSide = (): Side => ({ times: [], cold: [], classes: [] })

async function compare(
  segments: SearchIndex,
  archived: SearchIndex,
  classes: QueryClass[],
  opensearch: OpensearchServer,
  signal: AbortSignal,
): Promise<Record<string, number>> {
  const sides = { segments: newSide(), archive: newSide() }
  let mismatches = 0
  let asked = 0
  const processor = processorMs([opensearch.pid])
  for (const { name, queries, deep } of classes) {
    signal.throwIfAborted()
    const own: Record<keyof typeof sides, number[]> = { segments: [], archive: [] }
    for (const query of queries) {
      const one = await measureQuery(segments, query, deep)
      const other = await measureQuery(archived, query, deep)
      own.segments.push(one.ms)
      own.archive.push(other.ms)
      sides.segments.cold.push(one.coldMs)
      sides.archive.cold.push(other.coldMs)
      asked++
      const shown = ({ page }: typeof one) => `${page.total} ${page.estimate} ${page.rows.map(row => row.id)}`
      if (shown(one) === shown(other)) continue
      mismatches++
      say(`The archive answers otherwise: ${name}, ${JSON.stringify(query)}`)
    }
    for (const side of ['segments', 'archive'] as const) {
      sides[side].times.push(...own[side])
      sides[side].classes.push({ name, ms: quantile(own[side], 0.5) })
    }
  }
  const slowest = sides.archive.classes.toSorted((a, b) => b.ms - a.ms).slice(0, 15)
  say(['Slowest classes of the archive (ms):', ...slowest.map(one => `  ${rounded(one.ms)}  ${one.name}`)].join('\n'))
  const figures: Record<string, number> = { queries: asked, mismatches }
  for (const [side, { times, cold, classes: own }] of Object.entries(sides)) {
    figures[`${side}_p50_ms`] = rounded(quantile(times, 0.5))
    figures[`${side}_p95_ms`] = rounded(quantile(times, 0.95))
    figures[`${side}_worst_class_ms`] = rounded(Math.max(...own.map(one => one.ms)))
    figures[`${side}_cold_p95_ms`] = rounded(quantile(cold, 0.95))
  }
  figures.archive_cpu_s = rounded((processorMs([opensearch.pid]) - processor) / 1_000)
  return figures
}

const rounded = (value: number) => Math.round(value * 100) / 100
