import type { NewArticle } from '#search/types'
import { sampleArticles } from '#test/sample'

/** The news of the sample outlets as articles of the index. */
export const sampleNews = (): (Partial<NewArticle> & { title: string })[] =>
  sampleArticles().map(
    ({ title, section, slug, paragraphs, publishedAt, authors, outlet, language }) => ({
      title,
      url: `https://${outlet.domain}/${section.toLowerCase()}/${slug}`,
      body: paragraphs.join('\n\n'),
      publishedAt,
      authors,
      outlet: { name: outlet.name, domain: outlet.domain },
      language,
      country: outlet.country,
    }),
  )
