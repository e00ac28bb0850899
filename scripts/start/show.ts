import { setTimeout as pause } from 'node:timers/promises'
import type { Config } from '../../shared/config/config.ts'
import type { Pool } from '../../shared/postgres/pool.ts'
import { reachable } from './address.ts'
import { keyFile, operatorKeyFile, readyMadeKey } from './key.ts'
import { isSame, type Progress, readCounts } from './progress.ts'
import { answers, curl, explorerAddress, type Search, type ShownKey, searches } from './searches.ts'

const LOOK_MS = 1_000
/** ms without a change after which the sample counts as complete, if all of it is embedded. */
const STILL_MS = 4_000
/** After so long the searches are printed in any case, because somebody waits for them. */
const LONGEST_WAIT_MS = 60_000

interface Shown {
  config: Config
  /** The services' environment: which servers there are, and when articles are embedded. */
  env: NodeJS.ProcessEnv
  pool: Pool
  dataDir: string
  /** Each service with the address of its metrics. */
  metrics: string[]
  progress: Progress
  print(line: string): void
  /** True when only a person at a terminal sees the output. */
  onTerminal: boolean
  signal: AbortSignal
}

/**
 * Waits until there is something to find, then prints the address, a key, and searches that return
 * articles. Journals and CI keep other output, and others read it, so it names the keys' files
 * instead of the keys.
 */
export async function showSearches(options: Shown): Promise<void> {
  const { config, env, pool, dataDir, progress } = options
  const key = await readyMadeKey(pool, dataDir)
  const base = `http://${reachable(config.HOST)}:${config.PORT}`
  const offered = offeredSearches(searches(base, config.OUTLETS === '' ? 'sample' : 'live'), env)
  const silent = await untilFound(options, offered, key)
  progress.pause()
  printSearches(options, base, key, offered, silent)
  printAddresses(options, base)
}

interface Offered {
  /** Searches that must return articles before they are printed. */
  awaited: Search[]
  /** True when one of them needs vectors. */
  needsVectors: boolean
  /** The search by meaning, when articles are embedded only later. */
  later: Search | null
}

function offeredSearches({ json, rss, semantic }: ReturnType<typeof searches>, env: NodeJS.ProcessEnv): Offered {
  const byMeaning = Boolean(env.QDRANT_URL && (env.EMBEDDINGS_URL || env.HF_TOKEN))
  if (!byMeaning) return { awaited: [json, rss], needsVectors: false, later: null }
  const atOnce = /^0+(ms|s|m|h|d)?$/.test(env.EMBED_DELAY ?? '')
  return atOnce
    ? { awaited: [json, rss, semantic], needsVectors: true, later: null }
    : { awaited: [json, rss], needsVectors: false, later: semantic }
}

/** @returns the searches that still find nothing when the wait is over */
async function untilFound(options: Shown, { awaited, needsVectors }: Offered, key: string): Promise<Search[]> {
  const { config, pool, progress, signal } = options
  let last = await readCounts(pool)
  const again = last.articles > 0
  const began = Date.now()
  let changedAt = began
  for (;;) {
    signal.throwIfAborted()
    const counts = await readCounts(pool).catch(() => last)
    if (!isSame(counts, last)) changedAt = Date.now()
    last = counts
    progress.show(counts)
    const still = Date.now() - changedAt > STILL_MS && (!needsVectors || counts.embedded === counts.articles)
    const isLate = Date.now() - began > LONGEST_WAIT_MS
    if (again || still || isLate || config.OUTLETS !== '') {
      const silent = await silentAmong(awaited, key)
      if (silent.length === 0 || isLate) return silent
    }
    await pause(LOOK_MS, undefined, { signal })
  }
}

function printSearches(
  { env, dataDir, print, onTerminal }: Shown,
  base: string,
  key: string,
  { awaited, later }: Offered,
  silent: readonly Search[],
): void {
  print('')
  print(`Perscope is up at ${base}`)
  const shown: ShownKey = onTerminal ? { kind: 'itself', key } : { kind: 'file', path: keyFile(dataDir) }
  print(`To search in a browser: ${explorerAddress(base, shown)}`)
  print(onTerminal ? `Key: ${key}` : `Key: in the file ${keyFile(dataDir)}`)
  for (const search of awaited) {
    const yet = silent.includes(search) ? ` (finds nothing yet; ${dataDir}/logs may say why)` : ''
    print(`\n${search.about}${yet}\n${curl(search, shown)}`)
  }
  if (later !== null) {
    print(
      `\n${later.about} (an article is found so ${env.EMBED_DELAY || '2h'} after it was indexed)\n${curl(later, shown)}`,
    )
  }
}

function printAddresses({ config, env, dataDir, metrics, print, onTerminal }: Shown, base: string): void {
  const password = onTerminal ? `password ${env.OPERATOR_KEY}` : `password in the file ${operatorKeyFile(dataDir)}`
  print(
    `\nFor operators: ${base}/status (any name, ${config.OPERATOR_KEY === '' ? password : 'your OPERATOR_KEY as password'})`,
  )
  print(`Metrics for Prometheus: ${metrics.join(', ')}`)
  print(`Its data is in ${dataDir}, the logs of its parts in ${dataDir}/logs. Ctrl-C ends it.\n`)
}

async function silentAmong(all: readonly Search[], key: string): Promise<Search[]> {
  const silent: Search[] = []
  for (const search of all) if (!(await answers(search, key))) silent.push(search)
  return silent
}
