import t from 'tap'
import { createRandom } from '#test/faults/random'
import { askBoth } from './agreement.ts'
import { gradedText, longArticles, randomArticles } from './random-articles.ts'

t.test('thousands of random searches answer as a naive oracle does', async t => {
  for (let seed = 100; seed < 105; seed++) {
    const random = createRandom(seed)
    const articles = [...randomArticles(random, 400), ...longArticles(random)]
    const { differences } = await askBoth(random, articles, 1_000)
    t.same(differences, [], `seed ${seed}`)
  }
})

t.test('random searches of larger segments answer as a naive oracle does', async t => {
  const random = createRandom(300)
  const { differences } = await askBoth(random, randomArticles(random, 12_000, gradedText, 25), 500)
  t.same(differences, [])
})
