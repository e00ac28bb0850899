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
