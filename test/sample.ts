import { SAMPLE_OUTLETS, type SampleOutlet } from '#infra/outlets/sample/outlets'
import { isLanguage, type SampleText } from '#infra/outlets/sample/texts'
import type { Language } from '#search/types'

/** An article that `npm start` should find. */
export interface SampleArticle extends SampleText {
  outlet: SampleOutlet
  language: Language
}

/** Not the texts in another language than the outlet's, and not those that nobody gets to read. */
export function sampleArticles(): SampleArticle[] {
  return SAMPLE_OUTLETS.flatMap(outlet =>
    outlet.texts.flatMap(text => {
      const { language, answer } = text
      const isKept = ['disallowed', 'gone', 'fails'].includes(answer) || !isLanguage(language)
      return isKept ? [] : [{ ...text, outlet, language }]
    }),
  )
}
