import t from 'tap'
import { LANGUAGES } from '../vocabulary.ts'
import { listedStopWords, STOP_WORDS } from './index.ts'
import { words } from './tokens.ts'

for (const language of LANGUAGES) {
  t.test(`decision 40: what was added to ${language} is new, and folds to one word`, async t => {
    const { base, added } = listedStopWords(language)
    const known = new Set(base.flatMap(word => words(word)))
    for (const word of added) {
      const folded = words(word)
      t.equal(folded.length, 1, word)
      t.notOk(known.has(folded[0] ?? ''), `${word} stands twice`)
      t.ok(STOP_WORDS[language].has(folded[0] ?? ''), word)
      known.add(folded[0] ?? '')
    }
  })
}

t.test('decision 40: words that also name what is in the news are no stop words', async t => {
  for (const [language, word] of [
    ['en', 'us'],
    ['en', 'may'],
    ['fr', 'car'],
    ['de', 'ware'],
    ['lb', 'un'],
    ['nl', 'weer'],
  ] as const) {
    t.notOk(STOP_WORDS[language].has(word), `${language} ${word}`)
  }
})
