import t from 'tap'
import { askWhileWriting } from './writing.ts'

t.test('thousands of searches beside writers answer as a naive oracle does', async t => {
  for (let seed = 300; seed < 308; seed++) {
    const { differences, questions, articles, made } = await askWhileWriting(seed, 150)
    t.comment(`${questions} questions, ${articles.join(' to ')} articles, ${made} segments made`)
    t.same(differences.slice(0, 3), [], `seed ${seed}`)
  }
})
