import t from 'tap'
import { isWhole } from '#test/script'
import { askOverHttp } from './random.ts'

const QUESTIONS = isWhole ? 80 : 40

// Held here: decision 22 and decisions 9–15, 21, page by page and as a feed.
t.test('random requests in all spellings answer as a naive oracle does', async t => {
  const { differences, answered, refused, found } = await askOverHttp(
    t,
    Number(process.env.SEED ?? 4),
    QUESTIONS,
    isWhole,
  )
  t.comment(`${answered} answered with ${found} articles, ${refused} refused`)
  t.same(differences.slice(0, 3), [])
  t.ok(
    answered > QUESTIONS / 2 && found > 6 * QUESTIONS,
    `${answered} answered with ${found} articles`,
  )
})
