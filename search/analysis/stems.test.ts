import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import type { Language } from '../vocabulary.ts'
import { stem } from './stems.ts'
import { words } from './tokens.ts'

t.test('decision 17: forms of a word share their stem', async t => {
  const forms: [Language, string][] = [
    ['nl', 'brug bruggen'],
    ['nl', 'huis huizen'],
    ['nl', 'verkiezing verkiezingen'],
    ['nl', 'bewoner bewoners'],
    ['nl', 'krant kranten'],
    ['fr', 'élection élections'],
    ['fr', 'cheval chevaux'],
    ['fr', 'national nationale nationaux'],
    ['de', 'Haus Häuser Häusern'],
    ['de', 'Wahl Wahlen'],
    ['lb', 'Schoul Schoulen'],
    ['en', 'bridge bridges'],
    ['en', 'election elections'],
  ]
  for (const [language, text] of forms) {
    t.equal(new Set(words(text).map(word => stem(language, word))).size, 1, text)
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
    fc.property(languages, fc.string({ unit: 'binary', maxLength: 40 }), (language, text) => {
      for (const word of words(text)) {
        const found = stem(language, word)
        assert.notEqual(found, '')
        assert.equal(stem(language, word), found)
      }
    }),
    { numRuns: 1_000 },
  )
})

t.test('a word of thousands of letters is its own stem', async t => {
  const word = `${'ge'.repeat(5_000)}en`
  t.equal(stem('nl', word), word)
})
