import t from 'tap'
import { type ExpressionProblem, parseExpression } from './expression.ts'
import type { Expression } from './parse.ts'
import { and, andNot, or, parseBoolean, parseKeyword, QUERY_PROBLEMS, term } from './parse.ts'

/** The required phrases, then the excluded ones with a minus, each as one text. */
function read(q: string): string[] | 'refused' {
  const parsed = parseBoolean(q)
  if (!parsed.ok || parsed.match.kind !== 'boolean') return 'refused'
  const { required, excluded } = parsed.match
  return [...required.map(words => words.join(' ')), ...excluded.map(words => `-${words.join(' ')}`)]
}

t.test('decision 18: words, phrases and exclusions', async t => {
  const cases: [string, string[] | 'refused'][] = [
    ['a a A', ['a']],
    ['"to be or not to be"', ['to be or not to be']],
    ['a "b c" -d', ['a', 'b c', '-d']],
    ['a -"b c"', ['a', '-b c']],
    ['a-b', ['a', 'b']],
    ['zuid-holland', ['zuid', 'holland']],
    ['a -anti-corruption', ['a', '-anti corruption']],
    ["a -l'économie", ['a', '-l economie']],
    ['a -b"c d"', ['a', 'c d', '-b']],
    ['(-x y', ['y', '-x']],
    ['a--b', ['a', 'b']],
    ['- x', ['x']],
    ['a - -b', ['a', '-b']],
    ['a -½b', ['a', 'b']],
    ['a -²', ['a', '-2']],
    ['a -\u0301b', ['a', 'b']],
    ['a -\u200bb', ['a', '-b']],
    ['“a b” c', ['a', 'b', 'c']],
    ['“-x a', ['a', '-x']],
    ['a "½"', ['a']],
    ['a"b c"d', ['a', 'b c', 'd']],
    ['a\u00a0-b', ['a', '-b']],
    ['-a\nb', ['b', '-a']],
  ]
  for (const [q, expected] of cases) t.same(read(q)?.valueOf(), expected, q)
})

t.test('decision 18: an unbalanced quote, and exclusions alone, are refused with a sentence', async t => {
  for (const q of ['"a', 'a "b" "', '-"a', '-a', '-a -"b c"', '"" -a', '-a ½']) {
    const parsed = parseBoolean(q)
    t.equal(parsed.ok, false, q)
    if (!parsed.ok) t.match(parsed.errors, [/^[A-Z].*\.$/], q)
  }
})

t.test('decision 19: without a letter or digit nothing is searched for', async t => {
  for (const q of ['', '-', '""', '"-" (½)', '\u0301']) {
    const refused = { ok: false, errors: [QUERY_PROBLEMS.nothing] }
    t.same(parseBoolean(q), refused, JSON.stringify(q))
    t.same(parseKeyword(q), refused, JSON.stringify(q))
  }
})

t.test('decision 17: a keyword query is its words, each once; signs of the grammar are punctuation', async t => {
  t.same(parseKeyword('"De Fiets" -de FIETS, cœur'), {
    ok: true,
    match: { kind: 'keyword', words: ['de', 'fiets', 'coeur'] },
  })
  t.match(parseKeyword('fiets'), { match: { words: ['fiets'] } })
  t.equal(parseKeyword('\uff9e').ok, false, 'a letter that makes no word')
})

t.test('a tree has no node that says nothing', async t => {
  const [a, b, c] = [term('a'), term('b'), term('c')]
  t.same([and([a]), or([a]), andNot(a, [])], [a, a, a])
  t.same(and([and([a, b]), c]), { kind: 'and', of: [a, b, c] })
  t.same(and([or([a, b]), c]), { kind: 'and', of: [{ kind: 'or', of: [a, b] }, c] })
  t.same(andNot(a, [b]), { kind: 'andNot', of: a, not: [b] })
})

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
  const cases: [string, string | [ExpressionProblem, number]][] = [
    ['a OR b c', '(a|(b&c))'],
    ['a AND b OR c NOT d', '((a&b)|(c&-d))'],
    ['(a OR b) NEAR/3 "c d" e', '(3[a|b c_d]&e)'],
    ['a NEAR/50 ~B', '50[a ~b]'],
    ['-l’économie a', '(a&-l_economie)'],
    ['zuid-holland', '(zuid&holland)'],
    ["NOT zuid-holland l'an NEAR/1 (x-y OR z)", '(1[l_an x_y|z]&-zuid_holland)'],
    ['a NOT (NOT b) (-c)', '(a&b&-c)'],
    ['a -(b OR "c d") -~e -title:f -“g h”', '(a&-(b|c_d)&-~e&-T:f&-g_h)'],
    ['title:(a NEAR/2 b) title: c title:~d', '(2[T:a T:b]&T:c&T:~d)'],
    ['„a b“ «c» »d« "e “f” g"', '(a_b&c&d&e_f_g)'],
    ['a NEAR/51 b near/5 NEAR/05', '(a&(near&51)&b&(near&5)&(near&05))'],
    ['a en ET oder And "OR" ~AND title:NOT', '(a&en&et&oder&and&or&~and&T:not)'],
    ['a"b c"d(e)', '(a&b_c&d&e)'],
    ['a ? - "" ½ *', 'a'],
    ['"wat nu?" 5\u200b6', '(wat_nu&56)'],
    ['((((((((a))))))))', 'a'],
    ['(((((((((a)))))))))', ['limit', 9]],
    [long.replace(/ w64$/, ''), `(${Array.from({ length: 64 }, (_, n) => `w${n}`).join('&')})`],
    [long, ['limit', long.lastIndexOf('w') + 1]],
    ['é\u200b 🎉 a*', ['wildcard', 7]],
    ['a wo?rd', ['wildcard', 5]],
    ['"a b*"', ['wildcard', 5]],
    ['a "b', ['open', 3]],
    ['a (b (c)', ['open', 3]],
    ['a) b', ['close', 2]],
    ['a () b', ['lacking', 3]],
    ['a OR', ['lacking', 3]],
    ['a AND OR b', ['lacking', 3]],
    ['(OR b)', ['lacking', 2]],
    ['NEAR/3 b', ['lacking', 1]],
    ['a NEAR/3 b NEAR/4 c', ['operand', 12]],
    ['a NEAR/3 (b c)', ['operand', 10]],
    ['NOT a NEAR/3 b', ['operand', 1]],
    ['title:a NEAR/3 b', ['operand', 1]],
    ['NOT a -b', ['excludes', 1]],
    ['a OR (b OR -c)', ['excludes', 12]],
    ['a ~"b c"', ['operand', 4]],
  ]
  for (const [q, expected] of cases) {
    const parsed = parseExpression(q)
    if (typeof expected === 'string') t.equal(parsed.ok && drawn(parsed.match.tree), expected, q)
    else {
      const [problem, at] = expected
      t.match(
        parsed,
        { ok: false, misread: { problem, at }, errors: [new RegExp(`^[A-Z].* at character ${at}\\b.*\\.$`)] },
        q,
      )
    }
  }
})
