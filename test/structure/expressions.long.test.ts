import t from 'tap'
import { allLiterals, builtAtStart, judge, reviewed, reviewedLiterals } from './expressions.ts'

const literals = allLiterals()
const built = await builtAtStart()

t.test('no expression takes more than linear time, but those whose input is short', async t => {
  t.ok(literals.size > 500 && built.size > 60, `${literals.size} literals, ${built.size} built`)
  const plain = [...literals].filter(literal => !reviewedLiterals.has(literal))
  const composed = [...built].filter(([, file]) => reviewed.files[file] === undefined)
  const { attacked, unknown } = await judge([...plain, ...composed.map(([one]) => one)], 10_000)
  for (const expression of unknown) t.comment(`Not decided in time: ${expression}`)
  t.same(Object.fromEntries(attacked), {}, 'expressions that an attack was found for')
})

t.test('the list of reviewed expressions names only what is there', async t => {
  t.same(
    [...reviewedLiterals].filter(literal => !literals.has(literal)),
    [],
  )
  const files = new Set(built.values())
  t.same(
    Object.keys(reviewed.files).filter(file => !files.has(file)),
    [],
  )
})
