import t from 'tap'
import { createQuestionVectors } from './vector-search.ts'

const HOUR = 3_600_000
const VECTOR = Array.from({ length: 384 }, (_, at) => Math.fround(Math.sin(at)))

t.test('the memory is bounded: the question that was not asked for longest is embedded again', async t => {
  // A vector of 384 numbers takes 2,036 bytes: there is room for two.
  const vectorOf = createQuestionVectors(5_000, HOUR)
  const embedded: string[] = []
  for (const text of ['first', 'second', 'first', 'third', 'first', 'second']) {
    const vector = await vectorOf('articles', text, async () => {
      embedded.push(text)
      return VECTOR
    })
    t.same(vector, VECTOR)
  }
  t.same(embedded, ['first', 'second', 'third', 'second'])
})

t.test('a question that waits for an equal one fails with it, and the next tries again', async t => {
  const vectorOf = createQuestionVectors(5_000, HOUR)
  const failing = Promise.withResolvers<number[]>()
  const both = [1, 2].map(() => vectorOf('articles', 'storm', () => failing.promise))
  failing.reject(new Error('the model is away'))
  for (const one of both) await t.rejects(one, { message: 'the model is away' })
  t.same(await vectorOf('articles', 'storm', async () => VECTOR), VECTOR)
})

t.test('vectors of two collections never meet', async t => {
  const vectorOf = createQuestionVectors(5_000, HOUR)
  await vectorOf('articles-one', 'storm', async () => VECTOR)
  t.same(await vectorOf('articles-two', 'storm', async () => [0, 1]), [0, 1])
})
