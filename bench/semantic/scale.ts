import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { QdrantClient } from '@qdrant/js-client-rest'
import pg from 'pg'
import { COUNTRIES, type Country } from '../../shared/articles/article.ts'
import { openVectorStore } from '../../shared/vectors/store.ts'
import type { Fleet } from '../../test/fleet.ts'
import { createRandom, type Random } from '../search/random.ts'
import { asQuery, type Client } from './client.ts'
import { mixture } from './mixture.ts'

const say = (line: string) => void process.stderr.write(`${line}\n`)

const CANDIDATES = 500
const CHUNK = 500
const QUERIES = 60
/** Searches of each client in a measurement of speed. */
const SEARCHES = 100
const CLIENTS = 2
/** Articles that are embedded while searches are measured. */
const FILLING = 3_000

type Figures = Record<string, number>

/**
 * Recall and speed among so many articles. The generated vectors are mixtures of real ones with
 * noise, so that they cluster as news does. The other fields of an article are only those that a
 * search by meaning reads.
 */
export async function measureScale(
  rows: number,
  env: { DATABASE_URL: string; QDRANT_URL: string; QDRANT_API_KEY: string },
  fleet: Fleet,
  client: Client,
  folder: string,
): Promise<Figures> {
  const database = new pg.Client(env.DATABASE_URL)
  await database.connect()
  const { QDRANT_URL: url, QDRANT_API_KEY: apiKey } = env
  const qdrant = new QdrantClient({ url, apiKey, checkCompatibility: false, timeout: 300_000 })
  try {
    const { rows: served } = await database.query<{ name: string }>(
      `select name from vector_collections where state = 'serving'`,
    )
    const name = served[0]?.name
    if (name === undefined) throw new Error('Nothing is embedded; the corpora are needed (--data).')
    const real = await readVectors(qdrant, name)
    const random = createRandom(7)

    const start = performance.now()
    await fill(env, database, name, rows, real, random)
    const filled = (performance.now() - start) / 1_000
    say(`\n${rows} vectors stored in ${filled.toFixed(0)} s`)
    await indexed(qdrant, name)
    const ready = (performance.now() - start) / 1_000
    say(`indexed after ${ready.toFixed(0)} s`)

    const figures: Figures = { vectors: rows, fill_s: Math.round(filled), index_s: Math.round(ready) }
    figures.recall_at_500 = await measureRecall(env, qdrant, name, real, random)
    Object.assign(figures, await measureSpeed(client, random, ''))

    const file = join(folder, 'filling.ndjson')
    await writeFile(file, newArticles(random))
    await fleet.script('import', file)
    const left = async () =>
      (await database.query<{ n: number }>('select count(*)::int as n from embeddings where embedded_at is null'))
        .rows[0]?.n
    const before = (await left()) ?? 0
    const began = performance.now()
    Object.assign(figures, await measureSpeed(client, random, '_filling'))
    const after = (await left()) ?? 0
    if (after === 0) say('The embedder was through before the searches were: the figures while filling are too good.')
    figures.articles_per_second_beside_searches = rounded((before - after) / ((performance.now() - began) / 1_000), 1)
    return figures
  } finally {
    await database.end()
  }
}

/** The vectors of all articles embedded so far. */
async function readVectors(qdrant: QdrantClient, name: string): Promise<number[][]> {
  const vectors: number[][] = []
  for (let offset: string | number | bigint | undefined = 0; offset !== undefined; ) {
    const page = await qdrant.scroll(name, {
      offset: Number(offset),
      limit: 1_000,
      with_vector: true,
      with_payload: false,
    })
    for (const { vector } of page.points) if (isNumbers(vector)) vectors.push(vector)
    const next: unknown = page.next_page_offset
    offset = typeof next === 'number' ? next : undefined
  }
  return vectors
}

const isNumbers = (value: unknown): value is number[] => Array.isArray(value) && typeof value[0] === 'number'

/** Shares of the countries, as unequal as in reality. */
const DRAWN = ['NL', 'NL', 'NL', 'BE', 'BE', 'LU'] as const
const FIRST_DAY = Date.UTC(2021, 0, 1)
const FIVE_YEARS = 5 * 365 * 86_400_000

async function fill(
  env: { QDRANT_URL: string; QDRANT_API_KEY: string },
  database: pg.Client,
  name: string,
  rows: number,
  real: number[][],
  random: Random,
): Promise<void> {
  const vectors = openVectorStore(env, 300_000)
  const { rows: clock } = await database.query<{ first: string }>(
    'update ingest_clock set last_seq = last_seq + $1 returning (last_seq - $1 + 1)::text as first',
    [rows],
  )
  const first = BigInt(clock[0]?.first ?? 1)
  for (let at = 0; at < rows; at += CHUNK) {
    const articles = Array.from({ length: Math.min(CHUNK, rows - at) }, (_, index) => ({
      seq: first + BigInt(at + index),
      vector: mixture(real, random),
      country: random.one(DRAWN),
      coveredAt: FIRST_DAY + random.below(FIVE_YEARS),
    }))
    await database.query(INSERT, [
      articles.map(({ seq }) => String(seq)),
      articles.map(({ country }) => country),
      articles.map(({ coveredAt }) => new Date(coveredAt).toISOString()),
    ])
    await vectors.upsert(name, articles)
    if (at % 50_000 === 0) say(`${at} of ${rows} vectors`)
  }
  await database.query('vacuum analyze articles, article_texts, embeddings')
}

// $1 seqs, $2 countries, $3 times
const INSERT = `
  with given as (select * from unnest($1::bigint[], $2::text[], $3::timestamptz[]) as g (seq, country, at)),
  texts as (
    insert into article_texts (seq, title, url)
    select seq, 'Generated article ' || seq, 'https://generated.example/' || seq from given),
  promises as (
    insert into embeddings (seq, due_at, embedded_at) select seq, at, now() from given)
  insert into articles (seq, id, published_at, ingested_at, publisher_no, author_nos, country, language)
  select seq, 'generated-' || seq, at, at, (select min(publisher_no) from publishers), '{}', country, 'nl' from given`

async function indexed(qdrant: QdrantClient, name: string): Promise<void> {
  for (;;) {
    const { status } = await qdrant.getCollection(name)
    if (status === 'green') return
    await new Promise(resolve => setTimeout(resolve, 1_000))
  }
}

/** The share of the exact 500 nearest that a search finds, with and without a plan's bounds. */
async function measureRecall(
  env: { QDRANT_URL: string; QDRANT_API_KEY: string },
  qdrant: QdrantClient,
  name: string,
  real: number[][],
  random: Random,
): Promise<number> {
  const vectors = openVectorStore(env, 300_000)
  const shares: number[] = []
  for (let asked = 0; asked < QUERIES; asked++) {
    const since = asked % 3 === 0 ? FIRST_DAY + (FIVE_YEARS * 4) / 5 : 0
    const countries: Country[] = asked % 2 === 0 ? [...COUNTRIES] : ['BE']
    const query = mixture(real, random)
    const found = await vectors.search(name, query, { countries, since }, CANDIDATES)
    const exact = await qdrant.query(name, {
      query,
      limit: CANDIDATES,
      filter: {
        must: [
          { key: 'country', match: { any: countries } },
          { key: 'covered_at', range: { gte: since } },
        ],
      },
      with_payload: false,
      params: { exact: true },
    })
    const truth = new Set(exact.points.map(({ id }) => String(id)))
    shares.push(found.filter(({ seq }) => truth.has(String(seq))).length / truth.size)
  }
  const mean = shares.reduce((sum, share) => sum + share, 0) / shares.length
  say(`recall@500 against exact search: mean ${mean.toFixed(4)}, worst ${Math.min(...shares).toFixed(3)}`)
  return rounded(mean, 4)
}

/** Whole requests by two clients, each with a new query. */
async function measureSpeed(client: Client, random: Random, suffix: string): Promise<Figures> {
  const times: number[] = []
  await Promise.all(
    Array.from({ length: CLIENTS }, async () => {
      for (let asked = 0; asked < SEARCHES; asked++) {
        const start = performance.now()
        await client.articles({ search: 'semantic', q: asQuery(words(random, 6)) })
        times.push(performance.now() - start)
      }
    }),
  )
  times.sort((a, b) => a - b)
  const at = (share: number) => rounded(times[Math.floor(times.length * share)] ?? 0, 1)
  say(`${CLIENTS} clients${suffix.replace('_', ', ')}: p50 ${at(0.5)} ms, p95 ${at(0.95)} ms`)
  return { [`p50_ms${suffix}`]: at(0.5), [`p95_ms${suffix}`]: at(0.95) }
}

const WORDS = ['regering', 'gemeente', 'trein', 'storm', 'koning', 'voetbal', 'energie', 'prijzen', 'bossen', 'school']
  .concat(['élections', 'budget', 'police', 'grève', 'musée', 'Wetter', 'Polizei', 'Wirtschaft', 'Grenze', 'Schoul'])
  .concat([
    'election',
    'housing',
    'climate',
    'border',
    'hospital',
    'Lëtzebuerg',
    'Chamber',
    'Kierch',
    'Police',
    'Gemeng',
  ])

const words = (random: Random, count: number) =>
  Array.from({ length: count }, () => `${random.one(WORDS)}${random.chance(0.2) ? random.below(100) : ''}`).join(' ')

function newArticles(random: Random): string {
  const outlet = { name: 'Generated', domain: 'generated.example' }
  return Array.from({ length: FILLING }, (_, number) =>
    JSON.stringify({
      title: words(random, 8),
      url: `https://generated.example/new/${number}`,
      body: words(random, 100),
      published_at: new Date(FIRST_DAY + random.below(FIVE_YEARS)).toISOString(),
      authors: [],
      outlet,
      language: 'nl',
      country: 'NL',
    }),
  ).join('\n')
}

const rounded = (number: number, digits: number) => Number(number.toFixed(digits))
