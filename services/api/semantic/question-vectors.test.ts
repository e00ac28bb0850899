import t from 'tap'
import { createQuestionVectors } from './vector-search.ts'

const VECTOR = Array.from({ length: 384 }, (_, at) => Math.fround(Math.sin(at)))

t.test(
  'the memory is bounded: the question that was not asked for longest is embedded again',
  async t => {
    // A vector of 384 numbers takes 2,036 bytes, so the memory has room for two.
    const vectorOf = createQuestionVectors(5_000)
    const embedded: string[] = []
    for (const text of ['first', 'second', 'first', 'third', 'first', 'second']) {
      const vector = await vectorOf('articles', text, new AbortController().signal, async () => {
        embedded.push(text)
        return VECTOR
      })
      t.same(vector, VECTOR)
    }
    t.same(embedded, ['first', 'second', 'third', 'second'])
  },
)
