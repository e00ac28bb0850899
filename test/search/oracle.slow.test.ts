import t from 'tap'
import { createRandom } from '#test/faults/random'
import { askBoth } from './agreement.ts'
import { corpusArticles, haveCorpora } from './corpora.ts'
import { gradedText, randomArticles } from './random-articles.ts'

t.test('random searches of large segments answer as a naive oracle does', async t => {
  const random = createRandom(Number(process.env.SEED ?? 3))
  const articles = randomArticles(random, 3_000, gradedText, 25)
  const { differences, found } = await askBoth(
    random,
    articles,
    Number(process.env.QUESTIONS ?? 120),
  )
  t.same(differences, [])
  t.ok(found > 10_000, `${found} articles found`)
})

const skip = haveCorpora ? false : 'the texts (../shared/data) are not here'

t.test('random searches of real texts answer as a naive oracle does', { skip }, async t => {
  const random = createRandom(Number(process.env.SEED ?? 2))
  const { differences, found } = await askBoth(
    random,
    corpusArticles(random),
    Number(process.env.QUESTIONS ?? 120),
  )
  t.same(differences, [])
  t.ok(found > 500, `${found} articles found`)
})
