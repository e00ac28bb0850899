import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { wordRuns, words } from './tokens.ts'

t.test('the words with their places are the words of the one tokenizer', async () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 60 }), written => {
      const text = written.normalize('NFC')
      assert.deepEqual(
        wordRuns(text).map(({ word }) => word),
        words(text),
      )
    }),
    { numRuns: 2_000 },
  )
})

t.test('a word is marked where it stands, with its accents', async t => {
  const text = "l'Économie: CO₂ à Liège"
  const marked = wordRuns(text).map(({ start, end, word }) => [text.slice(start, end), word])
  t.strictSame(marked, [
    ['l', 'l'],
    ['Économie', 'economie'],
    ['CO₂', 'co2'],
    ['à', 'a'],
    ['Liège', 'liege'],
  ])
})
