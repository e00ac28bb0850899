import t from 'tap'
import { judge, lateLiterals, reviewedLiterals } from './expressions.ts'

const LIMIT = 2_000

t.test('the checker sees what is wrong with an expression, and what is not', async t => {
  const { attacked } = await judge(['/\\s*x/', '/\\s{0,9}x/', '/(?:a+)+b/', '/^\\s*x/'], LIMIT)
  t.same([...attacked.keys()].sort(), ['/(?:a+)+b/', '/\\s*x/'])
})

t.test('no literal of the last commits takes more than linear time', async t => {
  const late = lateLiterals().filter(literal => !reviewedLiterals.has(literal))
  const { attacked } = await judge(late, LIMIT)
  t.same(Object.fromEntries(attacked), {}, `of ${late.length}; see CONTRIBUTING.md, "Style"`)
})
