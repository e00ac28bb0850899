import t from 'tap'
import { wordList } from '../analysis/index.ts'
import { createWordIds } from './word-ids.ts'

t.test('words keep their ids while the table grows', async t => {
  const wordIds = createWordIds()
  const words = Array.from({ length: 20_000 }, (_, number) => `woord${number}`)
  for (let time = 0; time < 2; time++) {
    const read: number[] = []
    wordIds.read(wordList(words), number => read.push(number))
    t.strictSame(read, [...words.keys()])
  }
  t.same([wordIds.find('woord7'), wordIds.text(7), wordIds.find('never')], [7, 'woord7', -1])
})
