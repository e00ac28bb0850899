import type { ArticleObject, ArticlesQuery, Client } from './client.ts'
import type { Place } from './place.ts'

/**
 * One poll by the contract ("Polling for new articles"): all articles from the latest `ingested_at`
 * on, oldest first, to the last page, without those processed before. Hands over each page with the
 * place after it. A caller that keeps the place after processing the page misses nothing and
 * processes nothing twice.
 *
 * @param take processes the new articles of a page; they are done when it resolves
 */
export async function poll(
  client: Client,
  query: ArticlesQuery,
  place: Place,
  take: (articles: ArticleObject[], place: Place) => Promise<void>,
): Promise<void> {
  let now = place
  const question: ArticlesQuery = {
    ...query,
    ...(place.ingestedAfter === null ? {} : { ingested_after: place.ingestedAfter }),
    sort: 'ingested_at',
    order: 'asc',
    per_page: 100,
  }
  for await (const page of client.pages(question)) {
    const known = new Set(now.ids)
    const fresh = page.articles.filter(article => !known.has(article.id))
    if (fresh.length === 0) continue
    now = after(now, fresh)
    await take(fresh, now)
  }
}

/** The place after new articles. Articles of its latest moment may come again. */
function after(place: Place, articles: ArticleObject[]): Place {
  const latest = articles.at(-1)?.ingested_at ?? place.ingestedAfter
  const ids = articles.filter(article => article.ingested_at === latest).map(article => article.id)
  return { ...place, ingestedAfter: latest, ids: latest === place.ingestedAfter ? [...place.ids, ...ids] : ids }
}
