import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Figures, mean, rounded, say } from '#bench/figures'
import { type Client, createClient } from '#bench/load'
import type { BenchOptions } from '#bench/main'
import { benchFolder, withServers } from '#bench/servers'
import { migrate } from '#infra/migrations/migrate'
import type { Country, Language } from '#shared/articles/article'
import { createFleet, freePort, until } from '#test/fleet'
import {
  type AskPage,
  type Corpus,
  domainOf,
  idOf,
  notEmbedded,
  type Place,
  readCorpora,
} from './corpora.ts'
import { measureRelated } from './related.ts'
import { measureScale } from './scale.ts'

const EMBED_TIMEOUT = 3_600_000

/**
 * Measures how well and how fast search by meaning finds articles. It asks the running API, on
 * servers of its own, about parallel texts and questions.
 * - With `--related`, it measures how close articles on the same event are.
 * - With `--rows N`, it measures recall and speed among N articles, and of the test sets only
 *   NTREX.
 */
export async function run(options: BenchOptions): Promise<Figures> {
  const { data, rows, signal } = options
  if (options.related) return measureRelated(options)
  const folder = benchFolder('bench-semantic')
  await rm(folder, { recursive: true, force: true })
  const measured = withServers(
    'semantic',
    'bench-semantic',
    signal,
    async ({ servers, server }) => {
      const fleet = createFleet({ ...servers.settings, EMBED_DELAY: '0', LOG_LEVEL: 'warn' })
      try {
        await migrate(server)
        const metricsPort = await freePort()
        await fleet.start('api', { METRICS_PORT: String(metricsPort) })
        await fleet.start('embedder')
        const { key } = await fleet.makeKey('bench')
        const client = createClient(fleet.base(), key)
        const place: Place = {
          fleet,
          client,
          ask: askPages(client),
          database: server,
          folder,
          servers,
          metricsPort,
        }
        const [ntrex, ...others] = await readCorpora(data)
        if (ntrex?.name !== 'ntrex') {
          say(`The corpora are not in ${data}; name their folder with --data.`)
          return {}
        }
        const figures = await measureNews(ntrex, place)
        if (rows !== null) return { ...figures, ...(await measureScale(rows, place)) }
        await embedCorpora(others, place)
        for (const corpus of others) Object.assign(figures, await measureCorpus(place.ask, corpus))
        return figures
      } finally {
        await fleet.stop()
      }
    },
  )
  return measured.finally(() => rm(folder, { recursive: true, force: true }))
}

function askPages(client: Client): AskPage {
  return async parameters => {
    const { status, body } = await client.ask({
      path: `/v1/articles?${new URLSearchParams(parameters)}`,
    })
    if (status !== 200) throw new Error(`The API answers ${status}: ${body}`)
    const page: { articles: { id: string }[] } = JSON.parse(body.toString())
    return page.articles.map(({ id }) => id)
  }
}

/**
 * Parameters of a search in a mode. All articles of the bench have the same time, so that a keyword
 * search ranks them by words alone.
 */
const search = (mode: string, text: string) => ({
  // The longest query that clients can send has 191 code points.
  search: mode,
  q: [...text.normalize('NFC').trim()].slice(0, 191).join('').trim(),
  ...(mode === 'keyword' && { search_in: 'title_body' }),
})

/**
 * Measures NTREX. Beside the figures of every test set, it counts how many of a document's versions
 * are among the best ten. It groups them by the language of the question.
 */
async function measureNews(ntrex: Corpus, place: Place): Promise<Figures> {
  const seconds = await embedCorpora([ntrex], place)
  const figures: Figures = { articles_per_second: rounded(ntrex.articles.length / seconds, 1) }
  for (const [mode, prefix] of Object.entries({ semantic: '', keyword: 'keyword_' })) {
    const shares = await byKey(ntrex.questions, 'language', async ({ item, text }) => {
      const hits = await place.ask({ ...search(mode, text), per_page: '10' })
      const versions = new Set(ntrex.languages.map(version => idOf(ntrex.name, item, version)))
      return hits.filter(id => versions.has(id)).length / versions.size
    })
    for (const [language, all] of shares)
      figures[`${prefix}versions_at_10_${language}`] = rounded(mean(all), 3)
  }
  return { ...figures, ...(await measureCorpus(place.ask, ntrex)) }
}

/** Works on tasks one after the other, and groups their values by a field of the task. */
async function byKey<K extends string, T extends Record<K, string>>(
  tasks: T[],
  key: K,
  work: (task: T) => Promise<number>,
): Promise<Map<string, number[]>> {
  const values = new Map<string, number[]>()
  for (const task of tasks)
    values.set(task[key], [...(values.get(task[key]) ?? []), await work(task)])
  return values
}

/**
 * Measures how well questions in one language find articles in another: the MRR among the first 100
 * results.
 */
async function measureCorpus(
  ask: AskPage,
  { name, articles, languages, questions }: Corpus,
): Promise<Figures> {
  // When an article's own headline is the query, every kind of search finds the article. Such a
  // question does not count.
  const headlines = new Set(articles.map(({ title }) => title))
  const tasks = questions
    .flatMap(one => languages.map(found => ({ ...one, found, pair: `${one.language}_${found}` })))
    .filter(({ language, found, text }) => language !== found || !headlines.has(text))
  const ranks = (mode: string) =>
    byKey(tasks, 'pair', async ({ item, found, text }) => {
      const hits = await ask({
        ...search(mode, text),
        outlet: domainOf(name, found),
        per_page: '100',
      })
      return hits.indexOf(idOf(name, item, found)) + 1
    })
  const bySemantics = await ranks('semantic')
  const byWords = await ranks('keyword')
  const share = (of: number[], limit: number) =>
    mean(of.map(rank => (rank > 0 && rank <= limit ? 1 : 0)))
  const figures: Figures = {}
  for (const [pair, all] of bySemantics) {
    const found = {
      recall_at_1: share(all, 1),
      recall_at_10: share(all, 10),
      mrr: mean(all.map(rank => (rank > 0 ? 1 / rank : 0))),
      keyword_recall_at_10: share(byWords.get(pair) ?? [], 10),
    }
    for (const [figure, value] of Object.entries(found))
      figures[`${figure}_${name}_${pair}`] = rounded(value, 3)
  }
  return figures
}

const PUBLISHED = '2026-01-01T00:00:00Z'
const COUNTRY_OF: Record<Language, Country> = { nl: 'NL', en: 'NL', fr: 'BE', de: 'BE', lb: 'LU' }

/**
 * Imports test sets as an operator would, and waits until all articles have vectors. All articles
 * have the same time, so that only their match decides the order. Returns the seconds that this
 * took.
 */
async function embedCorpora(
  corpora: Corpus[],
  { fleet, database, folder }: Place,
): Promise<number> {
  const lines = corpora.flatMap(({ name, articles }) =>
    articles.map(({ item, language, title, body }) => {
      const id = idOf(name, item, language)
      const domain = domainOf(name, language)
      const own = {
        id,
        url: `https://${domain}/${id}`,
        title,
        body,
        language,
        country: COUNTRY_OF[language],
      }
      return JSON.stringify({
        ...own,
        authors: [],
        outlet: { name: domain, domain },
        published_at: PUBLISHED,
      })
    }),
  )
  const file = join(folder, 'corpora.ndjson')
  await writeFile(file, lines.join('\n'))
  const start = performance.now()
  await fleet.script('import', file)
  await until(async () => (await notEmbedded(database)) === 0, EMBED_TIMEOUT, fleet.logs)
  return (performance.now() - start) / 1_000
}
