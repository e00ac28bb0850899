import t from 'tap'
import { createRandom } from '../faults/random.ts'
import { askBoth } from './agreement.ts'
import { longArticles, randomArticles } from './archive.ts'

const timeout = 280_000

t.test('decisions 14–20, 22, 25: random searches answer as a naive oracle does', { timeout }, async t => {
  const random = createRandom(Number(process.env.SEED ?? 1))
  const articles = [...randomArticles(random, 250), ...longArticles(random)]
  const { differences, found } = await askBoth(random, articles, Number(process.env.QUESTIONS ?? 250))
  t.same(differences, [])
  t.ok(found > 1_500, `${found} articles found`)
})
