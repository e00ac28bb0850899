import { SAMPLE_OUTLETS } from '../../infra/outlets/sample/outlets.ts'
import { isLanguage, textsOf } from '../../infra/outlets/sample/texts.ts'
import type { NewArticle } from '../../search/indexing/article.ts'

/** The news of the sample outlets as articles of the index. */
export function sampleNews(): (Partial<NewArticle> & { title: string })[] {
  return SAMPLE_OUTLETS.flatMap(outlet =>
    textsOf(outlet).flatMap(text =>
      isLanguage(text.language)
        ? [
            {
              title: text.title,
              url: `https://${outlet.domain}/${text.section.toLowerCase()}/${text.slug}`,
              body: text.paragraphs.join('\n\n'),
              publishedAt: text.publishedAt,
              authors: text.authors,
              outlet: { name: outlet.name, domain: outlet.domain },
              language: text.language,
              country: outlet.country,
            },
          ]
        : [],
    ),
  )
}
