import t from 'tap'
import { createRandom } from '#test/faults/random'
import { isWhole } from '#test/script'
import { askBoth } from './agreement.ts'
import { corpusArticles, haveCorpora } from './corpora.ts'
import { gradedText, randomArticles } from './random-articles.ts'

const QUESTIONS = Number(process.env.QUESTIONS ?? (isWhole ? 120 : 40))

t.test('random searches of large segments answer as a naive oracle does', async t => {
  const random = createRandom(Number(process.env.SEED ?? 3))
  const articles = randomArticles(random, 3_000, gradedText, 25)
  const { differences, found } = await askBoth(random, articles, QUESTIONS)
  t.same(differences, [])
  t.ok(found > 80 * QUESTIONS, `${found} articles found`)
})

const skip = haveCorpora ? false : 'the texts (../shared/data) are not here'

t.test('random searches of real texts answer as a naive oracle does', { skip }, async t => {
  const random = createRandom(Number(process.env.SEED ?? 2))
  const { differences, found } = await askBoth(random, corpusArticles(random), QUESTIONS)
  t.same(differences, [])
  t.ok(found > 4 * QUESTIONS, `${found} articles found`)
})
