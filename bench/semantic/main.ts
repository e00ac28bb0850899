import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import pg from 'pg'
import { openDataDirectory } from '../../infra/embedded/data-directory.ts'
import { startServers } from '../../infra/embedded/servers.ts'
import { migrate } from '../../infra/migrations/migrate.ts'
import { readConfig } from '../../shared/config/config.ts'
import { createFleet, type Fleet, freePort, until } from '../../test/fleet.ts'
import type { BenchOptions } from '../main.ts'
import { type Client, createClient, idOf } from './client.ts'
import { COUNTRY_OF, type Corpus, domainOf, readNtrex, readOthers } from './corpora.ts'
import { measurePairs, measureVersions } from './quality.ts'
import { measureScale } from './scale.ts'

const say = (line: string) => void process.stderr.write(`${line}\n`)
const EMBED_TIMEOUT = 3_600_000

type Figures = Record<string, number>

/**
 * How well and how fast search by meaning finds, through the running API, on servers of its own:
 * parallel corpora and questions; with `--rows N`, instead of the corpora beside NTREX, recall and
 * speed among so many articles.
 */
export async function run(options: BenchOptions): Promise<Figures> {
  const folder = resolve(join(readConfig().DATA_DIR, 'bench-semantic'))
  await rm(folder, { recursive: true, force: true })
  const dataDir = await openDataDirectory(folder, 'npm run bench -- semantic')
  const servers = await startServers(dataDir, { report: say, signal: options.signal })
  const { DATABASE_URL = '', QDRANT_URL = '', EMBEDDINGS_URL = '' } = servers.addresses
  const { QDRANT_API_KEY = '', EMBEDDINGS_API_KEY = '' } = servers.settings
  const own = { DATABASE_URL, QDRANT_URL, QDRANT_API_KEY, EMBEDDINGS_URL, EMBEDDINGS_API_KEY }
  const fleet = createFleet({ ...own, EMBED_DELAY: '0', LOG_LEVEL: 'warn' })
  try {
    if (QDRANT_URL === '' || EMBEDDINGS_URL === '') throw new Error('This machine cannot run the embedded servers.')
    await migrate(DATABASE_URL)
    const metricsPort = String(await freePort())
    await fleet.start('api', { METRICS_PORT: metricsPort })
    await fleet.start('embedder')
    const plan = ['--countries', 'NL,BE,LU', '--history-start', '2000-01-01', '--rate', '1000000']
    const { key }: { key: string } = JSON.parse(await fleet.script('keys', 'create', '--name', 'bench', ...plan))
    const client = createClient(fleet.base(), key)
    const place = { fleet, database: DATABASE_URL, folder }
    const figures = await measureVersionsOfNews(options.data, place, client)
    if (Object.keys(figures).length === 0) return figures
    if (options.rows === null) return { ...figures, ...(await measureOthers(options.data, place, client)) }
    const metrics = `http://127.0.0.1:${metricsPort}`
    const watched = { metrics, folder: dataDir.path, modelPort: new URL(EMBEDDINGS_URL).port }
    return { ...figures, ...(await measureScale(options.rows, own, fleet, client, watched)) }
  } finally {
    await fleet.stop()
    await servers.stop()
    dataDir.release()
    await rm(folder, { recursive: true, force: true })
  }
}

interface Place {
  fleet: Fleet
  database: string
  folder: string
}

async function measureVersionsOfNews(data: string, place: Place, client: Client): Promise<Figures> {
  const figures: Figures = {}
  const ntrex = await readNtrex(data).catch(() => null)
  if (!ntrex) {
    say(`The corpora are not in ${data}; name their folder with --data.`)
    return figures
  }
  const seconds = await embedCorpora([ntrex], place)
  figures.articles_per_second = rounded(ntrex.articles.length / seconds, 1)
  say(`\n${ntrex.articles.length} articles of ntrex embedded in ${seconds.toFixed(0)} s`)

  say('\nShare of a document’s five versions among the best ten, asked by its headline in')
  for (const mode of ['semantic', 'keyword'] as const) {
    const versions = await measureVersions(client, ntrex, mode)
    for (const [language, share] of versions) {
      figures[`${mode === 'keyword' ? 'keyword_' : ''}versions_at_10_${language}`] = rounded(share, 3)
    }
    say(`${mode.padEnd(10)}${[...versions].map(([language, share]) => `${language} ${share.toFixed(3)}  `).join('')}`)
  }
  return { ...figures, ...(await measureCorpus(client, ntrex)) }
}

/** The other corpora, in one index with the first. */
async function measureOthers(data: string, place: Place, client: Client): Promise<Figures> {
  const figures: Figures = {}
  const corpora = await readOthers(data, say)
  if (corpora.length > 0) await embedCorpora(corpora, place)
  for (const corpus of corpora) Object.assign(figures, await measureCorpus(client, corpus))
  return figures
}

async function measureCorpus(client: Client, corpus: Corpus): Promise<Figures> {
  const figures: Figures = {}
  const pairs = await measurePairs(client, corpus, 'semantic')
  const words = await measurePairs(client, corpus, 'keyword')
  say(`\n${corpus.name}: ${corpus.articles.length} articles, ${corpus.questions.length} questions`)
  say('asked  found   recall@1  recall@10   MRR     keyword recall@10')
  for (const { asked, found, recall1, recall10, mrr } of pairs) {
    const byWords = words.find(pair => pair.asked === asked && pair.found === found)?.recall10 ?? 0
    const columns = [recall1, recall10, mrr, byWords].map(number => number.toFixed(3).padStart(9))
    say(`${asked.padEnd(7)}${found.padEnd(5)}${columns.join(' ')}`)
    const pair = `${corpus.name}_${asked}_${found}`
    figures[`recall_at_1_${pair}`] = rounded(recall1, 3)
    figures[`recall_at_10_${pair}`] = rounded(recall10, 3)
    figures[`mrr_${pair}`] = rounded(mrr, 3)
    figures[`keyword_recall_at_10_${pair}`] = rounded(byWords, 3)
  }
  return figures
}

/**
 * Imports corpora as an operator would and waits until all are embedded. Returns the seconds that
 * it took.
 */
async function embedCorpora(corpora: Corpus[], { fleet, database, folder }: Place): Promise<number> {
  const lines = corpora.flatMap(({ name, articles }) =>
    articles.map(({ item, language, title, body }) => {
      const id = idOf(name, item, language)
      const domain = domainOf(name, language)
      const outlet = { name: domain, domain }
      const url = `https://${domain}/${encodeURIComponent(id)}`
      // All articles have the same time, so that only their match decides the order.
      const published_at = '2026-01-01T00:00:00Z'
      const article = {
        id,
        title,
        url,
        body,
        published_at,
        authors: [],
        outlet,
        language,
        country: COUNTRY_OF[language],
      }
      return JSON.stringify(article)
    }),
  )
  await mkdir(folder, { recursive: true })
  const file = join(folder, 'corpora.ndjson')
  await writeFile(file, `${lines.join('\n')}\n`)
  const start = performance.now()
  await fleet.script('import', file)
  const client = new pg.Client(database)
  await client.connect()
  const through = async () => {
    const { rows } = await client.query<{ n: number }>(
      'select count(*)::int as n from embeddings where embedded_at is null',
    )
    return rows[0]?.n === 0
  }
  await until(through, EMBED_TIMEOUT, () => fleet.members.map(member => member.log()).join('\n')).finally(() =>
    client.end(),
  )
  return (performance.now() - start) / 1_000
}

const rounded = (number: number, digits: number) => Number(number.toFixed(digits))
