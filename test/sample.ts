import { SAMPLE_OUTLETS, textsOf } from '../infra/outlets/sample/outlets.ts'
import { isLanguage } from '../infra/outlets/sample/texts.ts'

/** An article that `npm start` should find. */
export type SampleArticle = ReturnType<typeof sampleArticles>[number]

/** Not the texts in another language than the outlet's, and not those that nobody gets to read. */
export function sampleArticles() {
  return SAMPLE_OUTLETS.flatMap(outlet =>
    textsOf(outlet).flatMap(text => {
      const { language, answer } = text
      const isKept = ['disallowed', 'gone', 'fails'].includes(answer) || !isLanguage(language)
      return isKept ? [] : [{ ...text, outlet, language }]
    }),
  )
}
