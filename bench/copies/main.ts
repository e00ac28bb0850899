import { spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { benchKey, withApi } from '#bench/api'
import { type Figures, quantile, quantiles, rounded } from '#bench/figures'
import { createClient } from '#bench/load'
import type { BenchOptions } from '#bench/main'
import { memoryMb, processes } from '#bench/processes'
import { type BuiltCorpus, buildCorpus } from '#bench/search/build'
import { createRandom, type GeneratedCorpus } from '#bench/search/generator'
import { type Bench, withServers } from '#bench/servers'
import type { NewArticle } from '#search/types'
import { agencyEvidence } from '#shared/articles/agencies'
import { areCopies, judge, RULES, sampleOf, WEEK } from '#shared/copies/shingles'
import { withDatabase } from '#test/database'

const ROWS = 1_000_000
/** Number of articles whose groups are compared with the definition of a copy. */
const SAMPLE = 2_000
const REQUESTS = 300
/**
 * The corpus spans five years. Divided by this number, it spans half a year, and has as many
 * articles a day as all outlets of three countries.
 */
const DENSER = 10
/**
 * In this first share of the corpus, articles are in the order of their dates. The other articles
 * have dates in no order, as in an import of old articles.
 */
const ORDERED = 0.9
/** The share of the articles that have the text of an earlier article. */
const COPIED = 0.4

/**
 * Measures groups of copies:
 * - speed and memory of the pass that `import` runs at its end
 * - precision and recall of a sample, compared with the definition of a copy
 * - how long the API takes to look up copies, and to count texts
 */
export function run({ rows, signal }: BenchOptions): Promise<Figures> {
  const measure = async (bench: Bench) => {
    const built = await buildCorpus(bench.server, rows ?? ROWS, signal, undefined, edited)
    const figures: Figures = { rows: built.rows, ...measureComputing(built.corpus) }
    if (built.seconds !== null) figures.import_per_s = Math.round(built.rows / built.seconds.insert)
    return withDatabase(built.url, async database => {
      Object.assign(
        figures,
        await measurePass(bench, built, database),
        await measureGroups(database),
      )
      return { ...figures, ...(await measureApi(bench, built, database)) }
    })
  }
  return withServers('copies', 'bench-copies', signal, measure, ['postgres'])
}

/**
 * A corpus in which many articles have the text of another article, changed as editors change it.
 */
function edited(corpus: GeneratedCorpus, rows: number): GeneratedCorpus {
  const ordered = Math.ceil(rows * ORDERED)
  const dense = (at: number) => new Date(corpus.start + Math.floor((at - corpus.start) / DENSER))
  const edit = (article: NewArticle, number: number): NewArticle => {
    const random = createRandom(-1 - number)
    const recent = Math.max(0, number - 1 - random.below(Math.ceil(rows / 36))) // of five days
    const source = number < ordered ? recent : random.below(ordered)
    const isCopy = random.chance(COPIED)
    const [wire] = isCopy || number >= ordered ? corpus.articles(source, source + 1) : [article]
    const at = number < ordered ? article.publishedAt : wire!.publishedAt
    const dated = { ...article, publishedAt: at && dense(at.getTime()) }
    if (!isCopy || wire?.body == null) return dated
    const part = random.one([0, 0.02, 0.05, 0.08])
    const words = wire.body.split(' ').map(word => (random.chance(part) ? `${word}s` : word))
    const own = (article.body ?? '').split(' ')
    const kept = words.slice(0, words.length * (0.5 + random.next() / 2))
    const end = own.slice(60, random.below(200))
    return { ...dated, body: [...own.slice(0, random.below(60)), ...kept, ...end].join(' ') }
  }
  return {
    ...corpus,
    articles: (from, to) => corpus.articles(from, to).map((one, n) => edit(one, from + n)),
  }
}

/**
 * ms of processor time for one article: to make its sketch, and to find the agencies that it names.
 */
function measureComputing(corpus: GeneratedCorpus): Figures {
  const bodies = corpus.articles(0, 4_000).map(({ body }) => body)
  const cost = (work: (body: string | null) => unknown) => {
    for (const body of bodies.slice(2_000)) work(body)
    const before = process.cpuUsage()
    for (const body of bodies.slice(0, 2_000)) work(body)
    return rounded(process.cpuUsage(before).user / 1_000 / 2_000, 3)
  }
  const sketch_ms = cost(body => sampleOf(judge(body) ?? new Float64Array()))
  return { sketch_ms, agencies_ms: cost(body => agencyEvidence({ authors: [], body })) }
}

/**
 * Times the pass over all articles: an import of no articles finds the groups of those that are
 * stored.
 */
async function measurePass(
  bench: Bench,
  { url, rows }: BuiltCorpus,
  database: pg.Client,
): Promise<Figures> {
  await database.query('truncate copy_sketches, copies_due')
  await database.query('update copies_state set rules = $1, seq = 0, version = version + 1', [
    RULES,
  ])
  const args = [
    '--max-semi-space-size=16',
    new URL('../../scripts/import.ts', import.meta.url).pathname,
    '-',
  ]
  const child = spawn(process.execPath, args, {
    env: { ...process.env, DATABASE_URL: url },
    stdio: 'ignore',
  })
  const start = performance.now()
  let memory = 0
  let cpu = 0
  let ordered = 0
  let whole = 0
  while (child.exitCode === null) {
    bench.signal.throwIfAborted()
    memory = Math.max(memory, Math.round(memoryMb([child.pid!])))
    cpu = processes([child.pid!])[0]?.ms ?? cpu
    const state = await database.query<{ seq: number }>('select seq::int from copies_state')
    whole = performance.now() - start
    if (state.rows[0]!.seq < rows * ORDERED) ordered = whole
    await sleep(250)
  }
  return {
    pass_ordered_ms: rounded(ordered / (rows * ORDERED), 3),
    pass_any_order_ms: rounded((whole - ordered) / (rows * (1 - ORDERED)), 3),
    pass_memory_mb: memory,
    pass_cpu_ms: rounded(cpu / rows, 3),
  }
}

/** An article that the pass has judged, and the first article of its group. */
type Row = { seq: number; first: number; at: number; outlet: string; body: string }

const ROWS_AFTER = `
  select s.seq::float8 as seq, s.first_seq::float8 as first, p.outlet, t.body,
         floor(extract(epoch from coalesce(a.published_at, a.ingested_at)) * 1000)::float8 as at
    from copy_sketches s join articles a using (seq) join article_texts t using (seq) join publishers p using (publisher_no)
   where s.first_seq is not null`
const FIRSTS = `${ROWS_AFTER} and s.first_seq = s.seq and s.seq > $1 order by s.seq limit 2000`

/**
 * Compares the groups of sampled articles with the groups that the definition gives. By the
 * definition, an article belongs to the earliest first article of which it is a copy, so this
 * function compares the sample with all first articles.
 */
async function measureGroups(database: pg.Client): Promise<Figures> {
  const drawn = `${ROWS_AFTER} and s.seq in (select seq from copy_sketches where first_seq is not null order by hashint8(seq) limit $1)`
  const { rows: sampled } = await database.query<Row>(drawn, [SAMPLE])
  const sample = sampled.map(row => ({ ...row, set: judge(row.body)!, truth: row.seq }))
  const having = Map.groupBy(
    sample.flatMap((one, at) => [...one.set].map(shingle => ({ shingle, at }))),
    ({ shingle }) => shingle,
  )
  for (let after = 0; ; ) {
    const { rows } = await database.query<Row>(FIRSTS, [after])
    if (rows.length === 0) break
    after = rows.at(-1)!.seq
    for (const { seq, at, outlet, body } of rows) {
      const set = judge(body)!
      const near = new Set(
        [...set].flatMap(shingle => having.get(shingle)?.map(one => one.at) ?? []),
      )
      for (const one of [...near].map(place => sample[place]!)) {
        if (seq >= one.truth || Math.abs(at - one.at) > WEEK) continue
        if (areCopies(one.set, set, outlet === one.outlet)) one.truth = seq
      }
    }
  }
  const members = sample.filter(({ seq, truth }) => truth !== seq)
  const told = sample.filter(({ seq, first }) => first !== seq)
  const right = (some: typeof sample) =>
    some.filter(({ first, truth }) => first === truth).length / some.length
  return {
    sample_members: members.length,
    precision: rounded(right(told), 4),
    recall: rounded(right(members), 4),
  }
}

/**
 * Times whole requests: for the copies of an article, for counts of articles, and for counts of
 * texts.
 */
function measureApi(
  bench: Bench,
  { url, corpus }: BuiltCorpus,
  database: pg.Client,
): Promise<Figures> {
  return withApi(bench, url, {}, async ({ base }) => {
    const client = createClient(base, await benchKey(database, null), 1)
    const { rows } = await database.query<{ id: string }>(
      'select id from copy_sketches where first_seq <> seq order by hashint8(seq) limit $1',
      [REQUESTS],
    )
    const random = createRandom(5)
    const times = { copies: [] as number[], articles: [] as number[], texts: [] as number[] }
    const ask = async (kind: keyof typeof times, path: string) => {
      const start = performance.now()
      const { status, body } = await client.ask({ path: `/explore/${path}` })
      if (status !== 200) throw new Error(`${path} is ${status}: ${body}`)
      times[kind].push(performance.now() - start)
    }
    for (const [n, { id }] of rows.entries()) {
      const { words } = corpus.vocabularies[random.one(['nl', 'fr', 'de'] as const)]
      const q =
        n % 10 === 0
          ? ''
          : `&q=${words[n % 2 === 0 ? 160 + random.below(80) : 1_200 + random.below(1_800)]}`
      await ask('copies', `copies?id=${id}`)
      const counts = [
        () => ask('articles', `counts?by=week${q}`),
        () => ask('texts', `counts?by=week&texts=true${q}`),
      ]
      for (const count of n % 4 < 2 ? counts : counts.toReversed()) await count()
    }
    await client.close()
    const figures: Figures = {
      texts_p95_ratio: rounded(quantile(times.texts, 0.95) / quantile(times.articles, 0.95)),
    }
    for (const [name, some] of Object.entries(times))
      Object.assign(figures, quantiles(`${name}_`, some.slice(20)))
    return figures
  })
}
