import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fetch } from 'undici'
import type { Config } from '#shared/config/config'
import { counted } from '#shared/log/printable'
import type { Pool } from '#shared/postgres/pool'
import { keyFile, operatorKeyFile, reachable, readyMadeKey } from './services.ts'

/*
 * A new installation shows that it works: it prints searches once they have returned articles.
 * Until then a progress line shows the counts of the pipeline. After a minute, the searches are
 * printed anyway.
 */

const LOOK_MS = 1_000
/** ms without a change after which the sample counts as complete, if all of it is embedded. */
const STILL_MS = 4_000
/** ms after which the searches are printed in any case, because a person waits for them. */
const LONGEST_WAIT_MS = 60_000

/** Whether only a person at a terminal sees the output. */
const onTerminal = process.stdout.isTTY

interface Shown {
  config: Config
  /** The services' environment, which shows the servers and the delay of embeddings. */
  env: NodeJS.ProcessEnv
  pool: Pool
  dataDir: string
  /** Each service with the address of its metrics. */
  metrics: string[]
  progress: Progress
  print(line: string): void
  signal: AbortSignal
}

/**
 * Waits until searches find articles, then prints the address, a key, and these searches. Others
 * may read output that goes to journals or CI. Such output names the files of the keys instead of
 * the keys.
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
  /** Whether one of the awaited searches needs vectors. */
  needsVectors: boolean
  /** The search by meaning, when articles are embedded only later. */
  later: Search | null
}

function offeredSearches(
  { json, rss, semantic }: Record<'json' | 'rss' | 'semantic', Search>,
  env: NodeJS.ProcessEnv,
): Offered {
  const byMeaning = Boolean(env.QDRANT_URL && (env.EMBEDDINGS_URL || env.HF_TOKEN))
  const needsVectors = byMeaning && /^0+(ms|s|m|h|d)?$/.test(env.EMBED_DELAY ?? '')
  return {
    awaited: needsVectors ? [json, rss, semantic] : [json, rss],
    needsVectors,
    later: byMeaning && !needsVectors ? semantic : null,
  }
}

/** @returns the searches that find nothing until the end of the wait */
async function untilFound(
  options: Shown,
  { awaited, needsVectors }: Offered,
  key: string,
): Promise<Search[]> {
  const { config, pool, progress, signal } = options
  let last = await readCounts(pool)
  const again = last.articles > 0
  const began = Date.now()
  let changedAt = began
  for (;;) {
    signal.throwIfAborted()
    const counts = await readCounts(pool).catch(() => last)
    if (inWords(counts) !== inWords(last)) changedAt = Date.now()
    last = counts
    progress.show(counts)
    const still =
      Date.now() - changedAt > STILL_MS && (!needsVectors || counts.embedded === counts.articles)
    const isLate = Date.now() - began > LONGEST_WAIT_MS
    if (again || still || isLate || config.OUTLETS !== '') {
      const silent = await silentAmong(awaited, key)
      if (silent.length === 0 || isLate) return silent
    }
    await pause(LOOK_MS, undefined, { signal })
  }
}

function printSearches(
  { env, dataDir, print }: Shown,
  base: string,
  key: string,
  { awaited, later }: Offered,
  silent: readonly Search[],
): void {
  print('')
  print(`Perscope is up at ${base}`)
  const shown: ShownKey = onTerminal
    ? { kind: 'itself', key }
    : { kind: 'file', path: keyFile(dataDir) }
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

function printAddresses({ config, env, dataDir, metrics, print }: Shown, base: string): void {
  const password = onTerminal
    ? `password ${env.OPERATOR_KEY}`
    : `password in the file ${operatorKeyFile(dataDir)}`
  print(
    `\nFor operators: ${base}/status (any name, ${config.OPERATOR_KEY === '' ? password : 'your OPERATOR_KEY as password'})`,
  )
  print(
    `Metrics for Prometheus: ${metrics.join(', ')}; its settings: ${join(dataDir, 'prometheus.yml')}`,
  )
  print(`Its data is in ${dataDir}, the logs of its parts in ${dataDir}/logs. Ctrl-C ends it.\n`)
}

async function silentAmong(all: readonly Search[], key: string): Promise<Search[]> {
  const silent: Search[] = []
  for (const search of all) if (!(await answers(search, key))) silent.push(search)
  return silent
}

/** A search for the user to try. It is tested before it is shown, unless vectors come later. */
interface Search {
  about: string
  address: string
  /** True when an answer holds articles. */
  holdsArticles(body: string): boolean
}

/**
 * Search terms from the sample's news. For a live catalogue, a subject that is in the news every
 * day.
 */
const WORDS = {
  sample: { keyword: 'nachttrein', language: 'fr', meaning: 'hackers attack hospitals' },
  live: { keyword: '', language: 'nl', meaning: 'what the government decided today' },
}

/**
 * The three searches that show what the API does: by words as JSON, by language as a feed, by
 * meaning.
 */
export function searches(
  base: string,
  kind: keyof typeof WORDS,
): { json: Search; rss: Search; semantic: Search } {
  const { keyword, language, meaning } = WORDS[kind]
  const words = keyword === '' ? '' : `q=${keyword}&search_in=title_body&`
  return {
    json: {
      about: keyword === '' ? 'The newest articles:' : `Articles with the word "${keyword}":`,
      address: `${base}/v1/articles?${words}per_page=5`,
      holdsArticles: inJson,
    },
    rss: {
      about: `The newest articles in one language (${language}), as an RSS feed:`,
      address: `${base}/v1/articles.rss?language=${language}&per_page=5`,
      holdsArticles: body => body.includes('<item>'),
    },
    semantic: {
      about: `Articles about "${meaning}" in any language, by their meaning:`,
      address: `${base}/v1/articles?search=semantic&q=${meaning.replaceAll(' ', '+')}&per_page=5`,
      holdsArticles: inJson,
    },
  }
}

function inJson(body: string): boolean {
  const page: unknown = JSON.parse(body)
  return typeof page === 'object' &&
    page !== null &&
    'articles' in page &&
    Array.isArray(page.articles)
    ? page.articles.length > 0
    : false
}

/**
 * The shown form of a key: the key itself where only a person sees it, or its file where the output
 * may be stored.
 */
type ShownKey = { kind: 'itself'; key: string } | { kind: 'file'; path: string }

/**
 * The address of the explorer. Where only a person sees it, its fragment contains the key. Browsers
 * send the fragment to no server, and the page removes it at once.
 */
export const explorerAddress = (base: string, shown: ShownKey): string =>
  shown.kind === 'itself' ? `${base}/#key=${encodeURIComponent(shown.key)}` : `${base}/`

/** The search as one command line for a shell. */
export function curl(search: Search, shown: ShownKey): string {
  const bearer =
    shown.kind === 'itself'
      ? quoted(`Authorization: Bearer ${shown.key}`)
      : `"Authorization: Bearer $(cat ${quoted(shown.path)})"`
  return `curl -s -H ${bearer} ${quoted(search.address)}`
}

/** Quotes a text as one word of a POSIX shell, also inside `$(…)`. */
const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

/** Whether the search returns articles at present. */
async function answers(search: Search, key: string): Promise<boolean> {
  try {
    const response = await fetch(search.address, {
      headers: { authorization: `Bearer ${key}` },
      signal: AbortSignal.timeout(10_000),
    })
    return response.ok && search.holdsArticles(await response.text())
  } catch {
    return false
  }
}

/**
 * Counts at the stages of the pipeline. `finished`: pages that were indexed, refused or given up.
 */
type ShownCounts = Record<'pages' | 'finished' | 'articles' | 'embedded', number>

export async function readCounts(pool: Pool): Promise<ShownCounts> {
  const { rows } = await pool.query<ShownCounts>(
    `select (select count(*) from pages)::int as pages,
            (select count(*) from pages where state not in ('waiting', 'stored'))::int as finished,
            (select count(*) from articles)::int as articles,
            (select count(*) from embeddings where embedded_at is not null)::int as embedded`,
  )
  return rows[0] ?? { pages: 0, finished: 0, articles: 0, embedded: 0 }
}

const inWords = ({ pages, finished, articles, embedded }: ShownCounts) =>
  `${finished} of ${counted(pages, 'page')} read, ${counted(articles, 'article')} indexed, ${embedded} embedded`

export interface Progress {
  show(counts: ShownCounts): void
  /**
   * Clears the line of a terminal, so that other lines can be printed. The next `show` prints it
   * again.
   */
  pause(): void
}

const LINE_MS = 5_000

/** On a terminal, one line that changes; elsewhere, plain lines, at most one every `LINE_MS`. */
export function createProgress(print: (line: string) => void): Progress {
  const isTerminal = process.stdout.isTTY
  let shown = ''
  let shownAt = 0
  return {
    show(counts) {
      const line = inWords(counts)
      if (line === shown || (!isTerminal && Date.now() - shownAt < LINE_MS)) return
      shown = line
      shownAt = Date.now()
      if (isTerminal) process.stdout.write(`\r\x1b[K${line}`)
      else print(line)
    },
    pause() {
      if (isTerminal && shown !== '') process.stdout.write('\r\x1b[K')
      if (isTerminal) shown = ''
    },
  }
}
