import { createRandom } from '../random.ts'
import { composeArticle } from './article.ts'
import { SITE_OUTLETS } from './outlets.ts'

/** Archived articles are numbered from here on; the site never gets that far. */
export const ARCHIVE_FROM = 500_000
const DAY_MS = 86_400_000
/** Inside the history that the readers' key covers. */
const OLDEST_DAYS = 20

/** An archive as `npm run import` reads it, one line an article, spread over the last weeks. */
export function writeArchive(seed: number, count: number): string {
  const random = createRandom(seed, 'archive')
  const lines: string[] = []
  for (let number = ARCHIVE_FROM; number < ARCHIVE_FROM + count; number++) {
    const outlet = random.pick(SITE_OUTLETS)
    const at = new Date(Date.now() - random.between(1, OLDEST_DAYS) * DAY_MS)
    const { title, authors, paragraphs, publishedAt } = composeArticle(random, outlet, number, at)
    lines.push(
      JSON.stringify({
        title,
        url: `https://www.${outlet.domain}/archief/${number}.html`,
        body: paragraphs.join('\n\n'),
        published_at: publishedAt.toISOString(),
        authors,
        outlet: { name: outlet.name, domain: outlet.domain },
        language: outlet.language,
        country: outlet.country,
      }),
    )
  }
  return `${lines.join('\n')}\n`
}
