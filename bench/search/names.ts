import { type ArticleQuery, openIndex, parseKeyword, SEARCH_SETTINGS, timeZoneNamed } from '../../search/index.ts'
import { createPool, type Pool } from '../../shared/postgres/pool.ts'
import { BASE, coverageOf } from './classes.ts'
import type { Archive } from './generator.ts'
import { measureQuery, quantile, RUNS } from './measure.ts'
import { createRandom, type Random } from './random.ts'

const QUERIES = 5
const DAY = 86_400_000

/** The other parts of a query with a part of a name. */
interface Situation {
  query(random: Random): Partial<ArticleQuery>
  /** Whether a page far behind the first is measured, or counts by day. */
  of: 'first page' | 'deep page' | 'counts by day'
}

interface Measured {
  name: string
  /** ms, one for each query: the median of its runs, and its very first run. */
  times: number[]
  coldTimes: number[]
  total: number
}

/**
 * Times searches by parts of names. For each situation an index is opened anew and warmed up, so
 * each part is once asked for the first time. The last index is not warmed up: its first search
 * waits until the names are read.
 *
 * @param say prints a line of the report
 */
export async function measureNames(parts: {
  url: string
  archive: Archive
  signal: AbortSignal
  say: (line: string) => void
}): Promise<Record<string, number>> {
  const pool = createPool(parts.url, 'bench', () => {}, { settings: SEARCH_SETTINGS })
  try {
    const results: Measured[] = []
    for (const [name, situation] of Object.entries(situations(parts.archive))) {
      results.push(...(await measureSituation(pool, name, situation, parts)))
    }
    report(results, parts.say)
    const all = results.flatMap(one => one.times)
    return {
      names_classes: results.length,
      names_p50_ms: rounded(quantile(all, 0.5)),
      names_p95_ms: rounded(quantile(all, 0.95)),
      names_worst_ms: rounded(Math.max(...all)),
      names_cold_worst_ms: rounded(Math.max(...results.flatMap(one => one.coldTimes))),
      names_unread_ms: rounded(await unread(pool)),
    }
  } finally {
    await pool.end()
  }
}

async function measureSituation(
  pool: Pool,
  situationName: string,
  situation: Situation,
  { archive, signal }: { archive: Archive; signal: AbortSignal },
): Promise<Measured[]> {
  const index = openIndex(pool)
  try {
    await index.warm()
    // Names are read for suggestions after that.
    await index.suggest('author', 'a', ['NL'], 1)
    const results: Measured[] = []
    for (const [partName, part] of Object.entries(nameParts(archive))) {
      signal.throwIfAborted()
      const random = createRandom(situationName.length * 1_000 + partName.length)
      const measured: Measured = { name: `${partName} · ${situationName}`, times: [], coldTimes: [], total: 0 }
      for (let number = 0; number < QUERIES; number++) {
        const query = { ...BASE, searchIn: 'title_body', match: { kind: 'all' }, ...situation.query(random) } as const
        const asked: ArticleQuery = { ...query, ...part(random) }
        const { ms, coldMs, total } =
          situation.of === 'counts by day'
            ? await measureCount(index, asked)
            : await measurePage(index, asked, situation)
        measured.times.push(ms)
        measured.coldTimes.push(coldMs)
        measured.total = total
      }
      results.push(measured)
    }
    return results
  } finally {
    await index.close()
  }
}

async function measurePage(index: ReturnType<typeof openIndex>, query: ArticleQuery, { of }: Situation) {
  const { ms, coldMs, page } = await measureQuery(index, query, of === 'deep page')
  return { ms, coldMs, total: page.total }
}

async function measureCount(index: ReturnType<typeof openIndex>, query: ArticleQuery) {
  const runs: number[] = []
  let total = 0
  for (let run = 0; run <= RUNS; run++) {
    const start = performance.now()
    total = (await index.countBy(query, { by: 'day', zone: timeZoneNamed('Europe/Brussels')! })).total
    runs.push(performance.now() - start)
  }
  return { ms: quantile(runs.slice(1), 0.5), coldMs: runs[0]!, total }
}

/** ms of the first search of a process that has read nothing. */
async function unread(pool: Pool): Promise<number> {
  const index = openIndex(pool)
  try {
    const start = performance.now()
    await index.search({ ...BASE, searchIn: 'title_body', match: { kind: 'all' }, author: 'van' })
    return performance.now() - start
  } finally {
    await index.close()
  }
}

/** Parts of names by their class. Those that are drawn are rarely asked for twice. */
function nameParts(archive: Archive): Record<string, (random: Random) => Partial<ArticleQuery>> {
  const staff = (random: Random) => random.one(random.one(archive.outlets).authors)
  const family = (random: Random) => staff(random).split(' ').at(-1)!
  return {
    'author=a': () => ({ author: 'a' }),
    'author=an': () => ({ author: 'an' }),
    'author=van': () => ({ author: 'van' }),
    'author=jan': () => ({ author: 'jan' }),
    'author=van de': () => ({ author: 'van de' }),
    'author, a rare family name': random => ({ author: family(random) }),
    'author, a whole name': random => ({ author: staff(random) }),
    'author, the middle of names': random => ({ author: staff(random).slice(2, 7).trim() }),
    'outlet=e': () => ({ outlet: 'e' }),
    'outlet=.example': () => ({ outlet: '.example' }),
    'outlet=de': () => ({ outlet: 'de' }),
    'outlet, a whole name': random => ({ outlet: random.one(archive.outlets).name }),
    'author=a, outlet=de, has_author': () => ({ author: 'a', outlet: 'de', hasAuthor: true }),
  }
}

function situations(archive: Archive): Record<string, Situation> {
  const page = (query: Situation['query']): Situation => ({ query, of: 'first page' })
  /** A word of so many of the most frequent words. */
  const word = (random: Random, from: number, to: number): Partial<ArticleQuery> => {
    const { words } = archive.vocabularies[random.one(['nl', 'nl', 'fr', 'de'] as const)]
    const parsed = parseKeyword(words[from + random.below(to - from)]!)
    return parsed.ok ? { match: parsed.match } : {}
  }
  return {
    alone: page(() => ({})),
    'a common word': page(random => word(random, 160, 240)),
    'a rare word': page(random => word(random, 30_000, 55_000)),
    ascending: page(() => ({ order: 'asc' })),
    'deep page': { query: () => ({}), of: 'deep page' },
    'polling by ingested_at': page(() => ({
      sort: 'ingested_at',
      order: 'asc',
      ingestedAfter: new Date(archive.end - DAY),
      perPage: 100,
    })),
    'one day': page(random => {
      const from = Math.floor((archive.start + random.next() * (archive.end - archive.start)) / DAY) * DAY
      return coverageOf(from, from + DAY)
    }),
    'counts by day': { query: () => ({}), of: 'counts by day' },
  }
}

/** The slowest classes: warm median, slowest query, slowest first run, articles found. */
function report(results: Measured[], say: (line: string) => void): void {
  const column = (ms: number) => ms.toFixed(1).padStart(8)
  const slowestFirst = results.toSorted((a, b) => Math.max(...b.coldTimes) - Math.max(...a.coldTimes))
  for (const { name, times, coldTimes, total } of slowestFirst.slice(0, 40)) {
    const figures = [quantile(times, 0.5), Math.max(...times), Math.max(...coldTimes)].map(column).join('')
    say(`${figures}  ${String(total).padStart(8)}  ${name}`)
  }
}

const rounded = (ms: number) => Math.round(ms * 100) / 100
