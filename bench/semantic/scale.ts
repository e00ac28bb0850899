import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type pg from 'pg'
import { type Figures, mean, quantiles, rounded, say, sum } from '#bench/figures'
import { inTurn } from '#bench/load'
import { processes } from '#bench/processes'
import { createCorpus, createRandom } from '#bench/search/generator'
import { linesOf } from '#bench/search/importing'
import { timed } from '#bench/search/measure'
import { fillVectors, mixture } from '#bench/vectors'
import { COUNTRIES, type Country } from '#shared/articles/article'
import { readConfig } from '#shared/config/config'
import { type Ask, openQdrant } from '#shared/vectors/qdrant'
import { openVectorStore } from '#shared/vectors/qdrant-store'
import type { VectorStore } from '#shared/vectors/store'
import { withDatabase } from '#test/database'
import { notEmbedded, type Place } from './corpora.ts'

const CANDIDATES = 500
const QUERIES = 60
/**
 * The number of articles that get vectors while searches are measured, and the words in a body of
 * theirs.
 */
const FILLING = 3_000
const BODY_WORDS = 100
/** Searches in each measurement of speed. */
const SEARCHES = 200
const CLIENTS = 2
/** How many times `SEARCHES` requests for related articles come first. V8 and Qdrant get faster. */
const WARM_UP = 10
/** The steps of a search, named as in `perscope_semantic_seconds`. */
const STEPS = ['model', 'vectors', 'set', 'page']

/** ms that a request to Qdrant may take. */
const PATIENCE = 300_000

/**
 * Measures recall and speed among a number of generated articles. Their vectors are mixtures of
 * real vectors with noise, so that they cluster as those of news do. Of the other fields, an
 * article has only those that a search by meaning reads.
 */
export function measureScale(rows: number, place: Place): Promise<Figures> {
  const settings = readConfig({ ...place.servers.settings })
  const { ask } = openQdrant(settings, PATIENCE)
  return withDatabase(place.database, async database => {
    const served = await database.query(
      `select name from vector_collections where state = 'serving'`,
    )
    const { name } = served.rows[0]
    // The collection contains only the vectors of NTREX, some hundred.
    const collection_name: string = name
    const some = { collection_name, limit: 1_000, with_vector: true, with_payload: false }
    const { data } = await ask(({ api, via }) => api.scrollPoints(some, via))
    const real = (data.result?.points ?? []).flatMap(({ vector }) =>
      isVector(vector) ? [vector] : [],
    )
    const start = performance.now()
    const seconds = () => Math.round((performance.now() - start) / 1_000)
    await generateArticles(database, rows)
    await fillVectors(settings, database, name, real, rows)
    const figures: Figures = { vectors: rows, fill_s: seconds() }
    // Qdrant may still make its index and merge segments.
    const state = () => ask(({ api, via }) => api.getCollection({ collection_name }, via))
    while ((await state()).data.result?.status !== 'green') await pause(1_000)
    figures.index_s = seconds()
    Object.assign(
      figures,
      await measureRecall(openVectorStore(settings, PATIENCE), ask, name, real),
    )
    Object.assign(figures, await measureSpeed(place, 11))
    // Generated articles have no text, so looking for copies would say nothing about them. The
    // bench marks them as judged.
    await database.query(
      'insert into copy_sketches (seq, id) select seq, id from articles on conflict do nothing',
    )
    await database.query('update copies_state set seq = (select max(seq) from articles)')
    const { rows: generated } = await database.query(
      "select id from articles where id like 'generated-%'",
    )
    Object.assign(figures, await measureRelated(generated, place))

    const file = join(place.folder, 'filling.ndjson')
    await writeFile(file, [...linesOf(createCorpus(FILLING, BODY_WORDS), 0, FILLING)])
    await place.fleet.script('import', file)
    const before = await notEmbedded(place.database)
    const began = performance.now()
    for (const [figure, value] of Object.entries(await measureSpeed(place, 12)))
      figures[`${figure}_filling`] = value
    const left = await notEmbedded(place.database)
    if (left === 0)
      say(
        'The embedder was through before the searches were: the figures while filling are too good.',
      )
    figures.articles_per_second_beside_searches = rounded(
      ((before - left) * 1_000) / (performance.now() - began),
      1,
    )
    return figures
  })
}

const isVector = (value: unknown): value is number[] =>
  Array.isArray(value) && typeof value[0] === 'number'

const FIRST_DAY = Date.UTC(2021, 0, 1)
const FIVE_YEARS = 5 * 365 * 86_400_000

/**
 * Writes articles of five years, spread over the countries as real ones are, and in order of
 * publication. They have only the fields that a search by meaning reads, and no vectors yet.
 */
async function generateArticles(database: pg.Client, rows: number): Promise<void> {
  // $1 number of articles, $2 first day
  await database.query(
    `with clock as (update ingest_clock set last_seq = last_seq + $1 returning last_seq - $1 as before),
     given as materialized (
       select before + n as seq, (array['NL', 'NL', 'NL', 'BE', 'BE', 'LU'])[1 + floor(random() * 6)::int] as country,
         $2::timestamptz + (n - random()) / $1 * interval '1825 days' as at
       from clock, generate_series(1, $1::int) n),
     texts as (
       insert into article_texts (seq, title, url)
       select seq, 'Generated article ' || seq, 'https://generated.example/' || seq from given),
     promises as (insert into embeddings (seq, due_at, embedded_at) select seq, at, now() from given),
     ids as (insert into article_ids (id) select 'generated-' || seq from given)
     insert into articles (seq, id, published_at, ingested_at, publisher_no, author_nos, country, language)
     select seq, 'generated-' || seq, at, at, (select min(publisher_no) from publishers), '{}', country, 'nl' from given`,
    [rows, new Date(FIRST_DAY)],
  )
  await database.query('vacuum analyze articles, article_texts, embeddings')
}

/**
 * The share of the exact 500 nearest articles that a search finds, with and without the limits of a
 * plan.
 */
async function measureRecall(vectors: VectorStore, ask: Ask, name: string, real: number[][]) {
  const random = createRandom(7)
  const shares = { all_countries: [] as number[], one_country: [] as number[] }
  for (let asked = 0; asked < QUERIES; asked++) {
    const since = asked % 3 === 0 ? FIRST_DAY + (FIVE_YEARS * 4) / 5 : 0
    const kind = asked % 2 === 0 ? 'all_countries' : 'one_country'
    const countries: Country[] = kind === 'all_countries' ? [...COUNTRIES] : ['BE']
    const query = mixture(real, random)
    const found = await vectors.search(name, query, { countries, since }, CANDIDATES)
    const bounds = [
      { key: 'country', match: { any: countries } },
      { key: 'covered_at', range: { gte: since } },
    ]
    const question = {
      query,
      limit: CANDIDATES,
      filter: { must: bounds },
      with_payload: false,
      params: { exact: true },
    }
    const exact = await ask(({ nearest }) => nearest(name, question))
    const truth = new Set(exact.map(({ seq }) => String(seq)))
    shares[kind].push(found.filter(({ seq }) => truth.has(String(seq))).length / truth.size)
  }
  const all = Object.values(shares).flat()
  const means = Object.entries(shares).map(([kind, some]) => [
    `recall_at_500_${kind}`,
    rounded(mean(some), 4),
  ])
  const figures = {
    recall_at_500: rounded(mean(all), 4),
    recall_at_500_worst: rounded(Math.min(...all), 3),
  }
  return { ...figures, ...Object.fromEntries(means) }
}

/**
 * Times whole requests by two clients, each with a new question. It also reads the times of their
 * `STEPS` and the processor time of each server.
 */
async function measureSpeed(place: Place, seed: number): Promise<Figures> {
  const random = createRandom(seed)
  const words = createCorpus(1).vocabularies.nl.words.slice(200, 5_000)
  const times: number[] = []
  const ended = new AbortController()
  const before = await read(place)
  await inTurn(CLIENTS, ended.signal, async () => {
    const q = Array.from({ length: 6 }, () => random.one(words)).join(' ')
    if (times.push(await timed(() => place.ask({ search: 'semantic', q }))) === SEARCHES)
      ended.abort()
  })
  const after = await read(place)
  const figures = quantiles('', times)
  for (const step of STEPS) {
    const own = after.steps.filter(one => one.step === step)
    const earlier = before.steps.filter(one => one.step === step)
    const counts = own.map(({ bound, count }, at) => ({
      bound,
      count: count - (earlier[at]?.count ?? 0),
    }))
    for (const part of [0.5, 0.95]) {
      const bound = counts.find(({ count }) => count >= part * counts.at(-1)!.count)?.bound ?? 0
      figures[`${step}_p${part * 100}_ms`] = rounded(bound, 1)
    }
  }
  for (const [name, ms] of Object.entries(after.processor))
    figures[`${name}_cpu_ms`] = rounded((ms - (before.processor[name] ?? 0)) / times.length, 1)
  return figures
}

/**
 * Times whole requests for articles on the same event, by two clients. The first requests warm up.
 */
async function measureRelated(generated: { id: string }[], { client }: Place): Promise<Figures> {
  const random = createRandom(13)
  const times: number[] = []
  let shown = 0
  const ended = new AbortController()
  await inTurn(CLIENTS, ended.signal, async () => {
    const path = `/explore/related?id=${random.one(generated).id}`
    const took = await timed(async () => {
      const { status, body } = await client.ask({ path })
      if (status !== 200) throw new Error(`${path} is ${status}: ${body}`)
      shown += body.toString().split('"days"').length - 1
    })
    if (times.push(took) === (WARM_UP + 2) * SEARCHES) ended.abort()
  })
  return {
    ...quantiles('related_', times.slice(WARM_UP * SEARCHES)),
    related_shown: rounded(shown / times.length, 1),
  }
}

/**
 * Reads the API's histogram of steps: for each bound in ms, how many steps took at most that long.
 * It also reads the processor time of each server, ms.
 */
async function read({ metricsPort, folder, servers }: Place) {
  const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
  const steps = [...text.matchAll(/^perscope_semantic_seconds_bucket\{(.*)\} (\d+)$/gm)].map(
    ([, labels = '', count]) => ({
      step: /step="(\w+)"/.exec(labels)?.[1],
      // The last bound is infinite. In its place stands a time that no request may take.
      bound: Number(/le="([\d.]+)"/.exec(labels)?.[1] ?? 60) * 1_000,
      count: Number(count),
    }),
  )
  const running = processes()
  const spent = (isOwn: (one: (typeof running)[number]) => boolean) =>
    sum(running.filter(isOwn).map(one => one.ms))
  const postgres = running.find(({ command }) => command.includes(`-D ${folder}/postgres`))?.pid
  const processor: Figures = {
    api: Number(/^process_cpu_seconds_total(?:\{.*\})? (\S+)$/m.exec(text)?.[1]) * 1_000,
    qdrant: spent(({ command }) => command.includes(`${folder}/qdrant.yaml`)),
    model: spent(
      ({ command }) =>
        command.includes('/serve.py') &&
        command.includes(`--port ${new URL(servers.addresses.EMBEDDINGS_URL ?? '').port}`),
    ),
    postgres: spent(({ pid, parent }) => pid === postgres || parent === postgres),
  }
  return { steps, processor }
}
