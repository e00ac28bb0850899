import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { LANGUAGES, type Language } from '../vocabulary.ts'
import { isFormOf, listedStopWords, stopWordsOf, wordList, wordListOf, wordsOf } from './index.ts'
import { words } from './tokens.ts'
import WORDS from './words.json' with { type: 'json' }

for (const language of LANGUAGES) {
  t.test(`decision 40: what was added to ${language} is new, and folds to one word`, async t => {
    const { base, added } = listedStopWords(language)
    const known = new Set(base.flatMap(word => words(word)))
    for (const word of added) {
      const folded = words(word)
      t.equal(folded.length, 1, word)
      t.notOk(known.has(folded[0] ?? ''), `${word} stands twice`)
      t.ok(stopWordsOf(language).has(folded[0] ?? ''), word)
      known.add(folded[0] ?? '')
    }
  })
}

t.test('decision 40: words that also name what is in the news are no stop words', async t => {
  for (const [language = '', word = ''] of WORDS.telling)
    t.notOk(stopWordsOf(language as Language).has(word), `${language} ${word}`)
})

t.test('decision 17: stop words count only where a query has nothing else', async t => {
  const found = (query: string, text: string) => words(text).filter(isFormOf(words(query), 'nl'))
  t.same(found('de brug', 'De bruggen van de stad'), ['bruggen'])
  t.same(found('de', 'De bruggen van de stad'), ['de', 'de'])
  t.same(found('de van', 'De bruggen van de stad'), ['de', 'van', 'de'])
})

t.test('a list of words holds the words of the text, whatever the text holds', async t => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...WORDS.letters), { maxLength: 60 }), parts => {
      const text = parts.join('')
      assert.equal(wordListOf(text), wordList(words(text)))
    }),
    { numRuns: 5_000 },
  )
  for (const part of ['ßé ', 'ŉ½', 'word ', 'a ', 'ﬃﬃﬃ ']) {
    const long = part.repeat(20_000)
    t.equal(wordListOf(long), wordList(words(long)))
  }
})

t.test('a list gives its words back', async t => {
  t.same(wordsOf(wordList(['a', 'b'])), ['a', 'b'])
  t.same(wordsOf(wordList([])), [])
})
