import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { wordList } from '../analysis/index.ts'
import { hashOf } from './arrays.ts'
import { createWordIds } from './word-ids.ts'

const word = fc.oneof(
  fc.string({ minLength: 1, maxLength: 3, unit: fc.constantFrom('a', 'b', 'é', '中', '😀') }),
  fc.constant('x'.repeat(10_000)),
)

t.test('words get the ids that a map of them would give', async () => {
  fc.assert(
    fc.property(fc.array(fc.array(word)), texts => {
      const wordIds = createWordIds()
      const numbers = new Map<string, number>()
      for (const text of texts) {
        const read: number[] = []
        wordIds.read(wordList(text), number => read.push(number))
        const expected = text.map(one => {
          if (!numbers.has(one)) numbers.set(one, numbers.size)
          return numbers.get(one)
        })
        assert.deepEqual(read, expected)
      }
      assert.equal(wordIds.size, numbers.size)
      for (const [one, number] of numbers) {
        assert.equal(wordIds.find(one), number)
        assert.equal(wordIds.text(number), one)
        assert.equal(wordIds.hash(number), hashOf(one))
      }
      assert.equal(wordIds.find('never'), -1)
    }),
  )
})

t.test('the table grows', async t => {
  const wordIds = createWordIds()
  const words = Array.from({ length: 20_000 }, (_, number) => `woord${number}`)
  for (let time = 0; time < 2; time++) {
    const read: number[] = []
    wordIds.read(wordList(words), number => read.push(number))
    t.strictSame(read, [...words.keys()])
  }
})
