import t from 'tap'
import { and, andNot, or, parseBoolean, parseKeyword, QUERY_PROBLEMS, term } from './parse.ts'

/** Required phrases, and excluded ones with a minus, as one line each. */
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
