import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { QdrantClient } from '@qdrant/js-client-rest'
import pg from 'pg'
import { COUNTRIES, type Country } from '../../shared/articles/article.ts'
import { openVectorStore } from '../../shared/vectors/store.ts'
import type { Fleet } from '../../test/fleet.ts'
import { createRandom, type Random } from '../search/generator.ts'
import type { Client } from './client.ts'
import { FIRST_DAY, FIVE_YEARS, fill, mixture, readVectors } from './generated.ts'
import type { Figures, Watched } from './shares.ts'
import { measureSpeed } from './speed.ts'
import { newArticles } from './words.ts'

const say = (line: string) => void process.stderr.write(`${line}\n`)

const CANDIDATES = 500
const QUERIES = 60
/** Articles that are embedded while searches are measured. */
const FILLING = 3_000

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
  watched: Watched,
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
    Object.assign(figures, await measureRecall(env, qdrant, name, real, random))
    Object.assign(figures, await measureSpeed(client, watched, 11, ''))

    const file = join(watched.folder, 'filling.ndjson')
    await writeFile(file, newArticles(FILLING, random))
    await fleet.script('import', file)
    const left = async () =>
      (await database.query<{ n: number }>('select count(*)::int as n from embeddings where embedded_at is null'))
        .rows[0]?.n
    const before = (await left()) ?? 0
    const began = performance.now()
    Object.assign(figures, await measureSpeed(client, watched, 12, '_filling'))
    const after = (await left()) ?? 0
    if (after === 0) say('The embedder was through before the searches were: the figures while filling are too good.')
    figures.articles_per_second_beside_searches = rounded((before - after) / ((performance.now() - began) / 1_000), 1)
    return figures
  } finally {
    await database.end()
  }
}

/** Waits until Qdrant has no more segments to index or to merge. */
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
): Promise<Figures> {
  const vectors = openVectorStore(env, 300_000)
  const shares = { whole: [] as number[], part: [] as number[] }
  for (let asked = 0; asked < QUERIES; asked++) {
    const since = asked % 3 === 0 ? FIRST_DAY + (FIVE_YEARS * 4) / 5 : 0
    const kind = asked % 2 === 0 ? 'whole' : 'part'
    const countries: Country[] = kind === 'whole' ? [...COUNTRIES] : ['BE']
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
    shares[kind].push(found.filter(({ seq }) => truth.has(String(seq))).length / truth.size)
  }
  const all = [...shares.whole, ...shares.part]
  const figures = {
    recall_at_500: mean(all),
    recall_at_500_worst: rounded(Math.min(...all), 3),
    recall_at_500_all_countries: mean(shares.whole),
    recall_at_500_one_country: mean(shares.part),
  }
  say(`recall against exact search: ${JSON.stringify(figures)}`)
  return figures
}

const mean = (numbers: number[]) => rounded(numbers.reduce((sum, number) => sum + number, 0) / numbers.length, 4)
const rounded = (number: number, digits: number) => Number(number.toFixed(digits))
