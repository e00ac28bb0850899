import t from 'tap'
import CASES from './cases.json' with { type: 'json' }
import {
  type ExpressionProblem,
  has,
  inFull,
  operatorsMeant,
  parseExpression,
} from './expression.ts'
import EXPRESSIONS from './expressions.json' with { type: 'json' }
import { type Expression, QUERY_PROBLEMS } from './parse.ts'

function treeOf(q: string) {
  const parsed = parseExpression(q)
  if (!parsed.ok) throw new Error(`${q}: ${parsed.errors}`)
  return parsed.match.tree
}

/** Writes a tree briefly: `T:` in the title, `-` excluded, `5[…]` near. */
function drawn(node: Expression): string {
  switch (node.kind) {
    case 'phrase':
      return `${node.inTitle ? 'T:' : ''}${node.words.join('_')}`
    case 'forms':
      return `${node.inTitle ? 'T:' : ''}~${node.word}`
    case 'near':
      return `${node.most}[${node.sides.map(side => side.map(drawn).join('|')).join(' ')}]`
    case 'or':
      return `(${node.of.map(drawn).join('|')})`
    case 'and':
      return `(${[...node.of.map(drawn), ...node.not.map(one => `-${drawn(one)}`)].join('&')})`
  }
}

t.test('decision 45: an expression is a tree, or a sentence that names the place', async t => {
  const long = Array.from({ length: 65 }, (_, n) => `w${n}`).join(' ')
  const cases = [
    ...CASES.expressions,
    [long.replace(/ w64$/, ''), `(${Array.from({ length: 64 }, (_, n) => `w${n}`).join('&')})`],
    [long, ['limit', long.lastIndexOf('w') + 1]],
    ['a (', ['open', 3]],
    ['?brug', ['wildcard', 1]],
    ['brug?', ['wildcard', 5]],
    ['"br*g"', ['wildcard', 4]],
    ['(title:a OR b) NEAR/2 c', ['operand', 1]],
    ['(a NEAR/2 b) NEAR/3 c', ['operand', 1]],
    ['~"a"', ['operand', 2]],
    ['~abc*', ['operand', 2]],
    [`a ${'('.repeat(9)}b${')'.repeat(9)}`, ['limit', 11]],
  ] as [string, string | [ExpressionProblem, number]][]
  for (const [q, expected] of cases) {
    const parsed = parseExpression(q)
    if (typeof expected === 'string') t.equal(parsed.ok && drawn(parsed.match.tree), expected, q)
    else {
      const [problem, at] = expected
      const errors = [new RegExp(`^[A-Z].* at character ${at}\\b.*\\.$`)]
      t.match(parsed, { ok: false, misread: { problem, at }, errors }, q)
    }
  }
})

t.test('words that people write for operators are offered as such, where that can be read', t => {
  for (const { q, meant } of EXPRESSIONS.meant) t.equal(operatorsMeant(q), meant, q)
  t.end()
})

t.test('an expression is shown with all its operators', async t => {
  for (const { q, full } of EXPRESSIONS.full) t.equal(inFull(treeOf(q)), full)
})

t.test('without a letter or digit nothing is searched for', async t => {
  for (const q of ['', '(', '"..."', '\u02bc'])
    t.strictSame(parseExpression(q), { ok: false, errors: [QUERY_PROBLEMS.nothing] }, q)
  t.match(parseExpression('trein AND (tram OR'), {
    errors: [
      'Nothing follows OR at character 17; write words there.',
      'The parenthesis at character 11 is not closed; write ).',
    ],
  })
  t.match(
    parseExpression('a AND (b AND (c OR'),
    { errors: [/at character 17/, 'The parenthesis at character 14 is not closed; write ).'] },
    'the innermost',
  )
  t.match(parseExpression('a NEAR/3'), { errors: ['Nothing follows NEAR/3 at character 3;'] })
  t.ok(parseExpression('"brug?"').ok, 'a quoted question')
})

t.test('a part of a kind is found wherever it stands', async t => {
  for (const q of ['~a', 'b ~a', 'b NOT ~a', 'b OR (c NOT ~a)', 'b OR ~a'])
    t.ok(has(treeOf(q), ['near', 'forms']), q)
  for (const q of ['a', 'a b', 'a OR b', 'a NOT b']) t.notOk(has(treeOf(q), ['near', 'forms']), q)
  t.ok(has(treeOf('a NEAR/2 b'), ['near']))
})
