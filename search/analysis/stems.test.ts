import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { CHARACTER } from '../../test/characters.ts'
import type { Language } from '../vocabulary.ts'
import { stem } from './stems.ts'
import { words } from './tokens.ts'
import WORDS from './words.json' with { type: 'json' }

t.test('decision 17: forms of a word share their stem', async t => {
  for (const [language = '', text = ''] of WORDS.forms) {
    t.equal(new Set(words(text).map(word => stem(language as Language, word))).size, 1, text)
  }
})

t.test('words of their own stay apart', async t => {
  t.not(stem('nl', 'bom'), stem('nl', 'bomen'))
  t.not(stem('en', 'even'), stem('en', 'evening'))
  t.not(stem('en', 'organ'), stem('en', 'organization'))
})

t.test('a stem is the same each time, of any word, and never empty', async () => {
  const languages = fc.constantFrom<Language>('nl', 'fr', 'de', 'lb', 'en')
  fc.assert(
    fc.property(languages, fc.string({ unit: CHARACTER, maxLength: 40 }), (language, text) => {
      for (const word of words(text)) {
        const found = stem(language, word)
        assert.notEqual(found, '')
        assert.equal(stem(language, word), found)
      }
    }),
    { numRuns: 1_000 },
  )
})

t.test('a word of more than 64 letters is its own stem', async t => {
  for (const [times, isStem] of [
    [31, false],
    [32, true],
    [5_000, true],
  ] as const) {
    const word = `${'ge'.repeat(times)}en`
    t.equal(stem('nl', word) === word, isStem)
  }
})
