import type { Pool } from '#shared/postgres/pool'
import type { Findings } from '#test/faults/findings'
import type { Poller } from '#test/faults/readers/poller'
import type { Sequence } from '#test/faults/readers/sequence'
import type { Site } from '#test/faults/site/site'
import { IMPORTED_FROM, numberIn, type SiteArticle, tag } from '#test/faults/site/site-article'
import type { Exported, Holdings } from './holdings.ts'

/**
 * Every published article is indexed exactly once, and nothing else is.
 *
 * @param storyOf tells where a lost article was seen last
 */
export async function checkArticles(
  site: Pick<Site, 'articles' | 'urlOf'>,
  imported: number,
  holdings: Holdings,
  storyOf: (article: SiteArticle) => Promise<string>,
  findings: Findings,
): Promise<void> {
  const byNumber = Map.groupBy(holdings.exported, ({ title }) => numberIn(title))
  for (const stray of byNumber.get(null) ?? [])
    findings.add(`${stray.url} is indexed as “${stray.title}”, which nobody published.`)
  for (let number = IMPORTED_FROM; number < IMPORTED_FROM + imported; number++) {
    const found = byNumber.get(number) ?? []
    if (found.length !== 1)
      findings.add(`${tag(number)} of the import is there ${found.length} times.`)
  }
  for (const article of site.articles)
    await checkArticle(article, site, byNumber.get(article.number) ?? [], storyOf, findings)
  const urls = Map.groupBy(holdings.exported, ({ url }) => url)
  for (const [url, found] of urls) {
    if (found.length > 1) findings.add(`${url} is indexed ${found.length} times: ${places(found)}.`)
  }
  const { status, exported } = holdings
  if (status.articles !== exported.length)
    findings.add(`status counts ${status.articles} articles and export writes ${exported.length}.`)
  if (status.pages.waiting > 0)
    findings.add(`${status.pages.waiting} pages still wait although nothing is published.`)
  if (status.pages.failed > 0)
    findings.add(`${status.pages.failed} pages are given up, and none of them deserved it.`)
}

async function checkArticle(
  article: SiteArticle,
  site: Pick<Site, 'urlOf'>,
  found: Exported[],
  storyOf: (article: SiteArticle) => Promise<string>,
  findings: Findings,
): Promise<void> {
  if (found.length === 0) findings.add(`${tag(article.number)} is lost: ${await storyOf(article)}`)
  if (found.length > 1)
    findings.add(`${tag(article.number)} is there ${found.length} times: ${places(found)}.`)
  const [only] = found
  if (found.length === 1 && only && article.mood !== 'moved' && only.url !== site.urlOf(article))
    findings.add(`${tag(article.number)} has the address ${only.url}, not ${site.urlOf(article)}.`)
}

const places = (found: Exported[]) =>
  found.map(({ id, url, ingested_at }) => `${id} ${url} ${ingested_at}`).join(', ')

/** Tells where a lost article was seen last, to help find the reason. */
export async function storyOf(article: SiteArticle, site: Site, pool: Pool): Promise<string> {
  const { rows } = await pool.query(
    `select page_no::text, url, state, reason, detail, attempts, discovered_at, next_try_at, finished_at
       from pages where url like '%' || $1 || '%' or url like '%' || $2`,
    [article.path, article.shortPath],
  )
  const pages =
    rows.length === 0
      ? 'no feed brought its address'
      : rows.map(row => JSON.stringify(row)).join(' ')
  return [
    `published ${article.publishedAt.toISOString()}, ${article.mood}, ${site.urlOf(article)};`,
    `asked for: ${site.visitsOf(article).join(', ') || 'never'};`,
    `pages: ${pages}`,
  ].join(' ')
}

/** `ingested_at` grows in the order of visibility (decision 23), which is the order of numbers. */
export function checkOrder({ order }: Holdings, findings: Findings): void {
  let last = 0
  for (const { seq, id, ingested_at } of order) {
    const at = ingested_at?.getTime() ?? 0
    if (at < last)
      findings.add(
        `${id} (number ${seq}) has an earlier time of ingestion than the number before it.`,
      )
    last = at
  }
}

/** A poller has seen every article that its filter lets through, and as it is. */
export function checkPoller(
  poller: Pick<Poller, 'name' | 'seen'>,
  matches: (article: Exported) => boolean,
  { exported }: Holdings,
  findings: Findings,
): void {
  const held = new Map(exported.map(article => [article.id, article]))
  for (const article of exported) {
    if (!matches(article)) continue
    const seen = poller.seen.get(article.id)
    if (!seen)
      findings.add(
        `${poller.name} has never been given ${article.id} (${article.title}, ${article.ingested_at}).`,
      )
    else if (seen.ingested_at !== article.ingested_at || seen.published_at !== article.published_at)
      findings.add(`The times of ${article.id} are not those that ${poller.name} was given.`)
  }
  for (const [id, { title, ingested_at }] of poller.seen) {
    if (!held.has(id))
      findings.add(`${poller.name} was given ${id} (${title}, ${ingested_at}), and it is gone.`)
  }
}

/**
 * A sequence is the result set as it stood at its beginning (decision 22): the first so many of all
 * that match, in the order in which they became visible, each once.
 */
export function checkSequence(
  { name, question, total, ids }: Sequence,
  holdings: Holdings,
  findings: Findings,
): void {
  const about = `${name} (${new URLSearchParams(question.query)})`
  const given = new Set(ids)
  if (given.size < ids.length)
    findings.add(`${about} was given ${ids.length - given.size} articles twice.`)
  if (given.size !== total)
    findings.add(`${about} began with ${total} results and was given ${given.size}.`)
  if (!question.matches) return
  const articles = new Map(holdings.exported.map(article => [article.id, article]))
  const { matches } = question
  const matching = holdings.order.flatMap(({ id }) => articles.get(id) ?? []).filter(matches)
  const expected = new Set(matching.slice(0, total).map(({ id }) => id))
  const missing = [...expected].filter(id => !given.has(id))
  const strange = [...given].filter(id => !expected.has(id))
  if (missing.length + strange.length > 0)
    findings.add(
      `${about} was not frozen: of the ${total} it began with it missed ${missing.length} (${missing.slice(0, 3)}) and was given ${strange.length} others (${strange.slice(0, 3)}).`,
    )
}

/** Embeddings that are promised for later than this are not due in this run. */
const FAR_MS = 3_600_000

/**
 * Every article is embedded exactly once when its hour has come: one promise, kept, and one vector.
 */
export function checkEmbeddings(holdings: Holdings, findings: Findings): void {
  const { order, embeddings, points, status } = holdings
  checkPromises(holdings, findings)
  checkStrays(holdings, findings)
  if (!points && order.length > 0) findings.add('Qdrant has no collection that serves.')
  const kept = embeddings.filter(({ embedded_at }) => embedded_at).length
  if (status.embedded !== kept)
    findings.add(`status counts ${status.embedded} embedded articles, and ${kept} are.`)
}

/** Every article has a promise. When it is kept, there is a vector. */
function checkPromises({ order, embeddings, points }: Holdings, findings: Findings): void {
  const promises = new Map(embeddings.map(embedding => [embedding.seq, embedding]))
  const soon = Date.now() + FAR_MS
  for (const { seq, id } of order) {
    const promise = promises.get(seq)
    if (!promise) findings.add(`${id} (number ${seq}) was never promised an embedding.`)
    else if (promise.failed_at)
      findings.add(`The embedding of ${id} (number ${seq}) was given up: ${promise.error}.`)
    else if (!promise.embedded_at && promise.due_at.getTime() < soon)
      findings.add(`${id} (number ${seq}) is not embedded.`)
    const vectors = points?.get(seq) ?? 0
    if (promise?.embedded_at && vectors === 0)
      findings.add(`${id} (number ${seq}) counts as embedded and has no vector.`)
  }
}

/** No vector or promise belongs to no article, and no article has two vectors. */
function checkStrays({ order, embeddings, points }: Holdings, findings: Findings): void {
  const articles = new Set(order.map(({ seq }) => seq))
  for (const [seq, count] of points ?? []) {
    if (!articles.has(seq))
      findings.add(`Qdrant holds ${count} vectors of number ${seq}, which is no article.`)
    else if (count > 1) findings.add(`Qdrant holds ${count} vectors of number ${seq}.`)
  }
  for (const { seq } of embeddings) {
    if (!articles.has(seq))
      findings.add(`An embedding is promised for number ${seq}, which is no article.`)
  }
}
