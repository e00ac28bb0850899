import type { Pool } from '../../../shared/postgres/pool.ts'
import type { Findings } from '../findings.ts'
import { ARCHIVE_FROM } from '../site/archive.ts'
import { numberIn, type SiteArticle, tag } from '../site/article.ts'
import type { Site } from '../site/site.ts'
import type { Exported, Holdings } from './holdings.ts'

/**
 * Every published article is indexed exactly once, and nothing else is.
 *
 * @param storyOf tells where a lost article was seen last
 */
export async function checkArticles(
  site: Pick<Site, 'articles' | 'urlOf'>,
  archive: number,
  holdings: Holdings,
  storyOf: (article: SiteArticle) => Promise<string>,
  findings: Findings,
): Promise<void> {
  const byNumber = Map.groupBy(holdings.exported, ({ title }) => numberIn(title))
  for (const stray of byNumber.get(null) ?? [])
    findings.add(`${stray.url} is indexed as “${stray.title}”, which nobody published.`)
  for (let number = ARCHIVE_FROM; number < ARCHIVE_FROM + archive; number++) {
    const found = byNumber.get(number) ?? []
    if (found.length !== 1) findings.add(`${tag(number)} of the archive is there ${found.length} times.`)
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
  if (status.pages.waiting > 0) findings.add(`${status.pages.waiting} pages still wait although nothing is published.`)
  if (status.pages.failed > 0) findings.add(`${status.pages.failed} pages are given up, and none of them deserved it.`)
}

async function checkArticle(
  article: SiteArticle,
  site: Pick<Site, 'urlOf'>,
  found: Exported[],
  storyOf: (article: SiteArticle) => Promise<string>,
  findings: Findings,
): Promise<void> {
  if (found.length === 0) findings.add(`${tag(article.number)} is lost: ${await storyOf(article)}`)
  if (found.length > 1) findings.add(`${tag(article.number)} is there ${found.length} times: ${places(found)}.`)
  const [only] = found
  if (found.length === 1 && only && article.mood !== 'moved' && only.url !== site.urlOf(article))
    findings.add(`${tag(article.number)} has the address ${only.url}, not ${site.urlOf(article)}.`)
}

const places = (found: Exported[]) => found.map(({ id, url, ingested_at }) => `${id} ${url} ${ingested_at}`).join(', ')

/** Tells where a lost article was seen last, to help find the reason. */
export async function storyOf(article: SiteArticle, site: Site, pool: Pool): Promise<string> {
  const { rows } = await pool.query(
    `select page_no::text, url, state, reason, detail, attempts, discovered_at, next_try_at, finished_at
       from pages where url like '%' || $1 || '%' or url like '%' || $2`,
    [article.path, article.shortPath],
  )
  const pages = rows.length === 0 ? 'no feed brought its address' : rows.map(row => JSON.stringify(row)).join(' ')
  return [
    `published ${article.publishedAt.toISOString()}, ${article.mood}, ${site.urlOf(article)};`,
    `asked for: ${site.visitsOf(article).join(', ') || 'never'};`,
    `pages: ${pages}`,
  ].join(' ')
}
