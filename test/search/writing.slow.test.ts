import t from 'tap'
import { isWhole } from '#test/script'
import { askWhileWriting } from './writing.ts'

const QUESTIONS = Number(process.env.QUESTIONS ?? (isWhole ? 80 : 40))

// Held here: decisions 14–20, 25, decision 22.
t.test('while writers write, searches answer as a naive oracle does', async t => {
  const seed = Number(process.env.SEED ?? 3)
  const { differences, found, articles, made } = await askWhileWriting(seed, QUESTIONS)
  t.comment(`${found} found, ${articles.join(' to ')} articles, ${made} segments made`)
  t.same(differences.slice(0, 3), [])
  t.ok(found > 100, `${found} found`)
  t.ok(
    articles[1] > articles[0] && made > 1,
    `${articles.join(' to ')} articles, ${made} segments made`,
  )
})
