import t from 'tap'
import { readQuery } from './reading.ts'

t.test('issue 21.1: a query is shown as the engine reads it', async t => {
  t.strictSame(readQuery({ q: 'Brussel, métro!', mode: 'keyword' }), {
    kind: 'any',
    words: ['brussel', 'metro'],
    hints: [],
  })
  t.strictSame(readQuery({ q: 'brussel "de metro" -staking', mode: 'boolean' }), {
    kind: 'all',
    required: ['brussel', '“de metro”'],
    excluded: ['staking'],
    hints: [],
  })
  t.same(readQuery({ q: '  ', mode: 'keyword' }), { kind: 'everything' })
})

t.test('issue 21.1: what cannot be read is said before anything is sent', async t => {
  for (const [q, mode, problem] of [
    ['!?', 'keyword', 'nothing'],
    ['"brussel', 'boolean', 'openQuote'],
    ['-brussel', 'boolean', 'onlyExclusions'],
    ['a', 'semantic', 'short'],
    ['', 'semantic', 'short'],
    ['😀😀', 'semantic', 'nothing'],
    ['a'.repeat(192), 'keyword', 'long'],
  ] as const) {
    t.same(readQuery({ q, mode }), { kind: 'problem', problem }, q)
  }
  t.equal(readQuery({ q: '😀'.repeat(95) + 'a'.repeat(96), mode: 'keyword' }).kind, 'any', 'code points are counted')
})

t.test('issue 21.9: what looks like an operator and is none is named', async t => {
  const hintsOf = (q: string, mode: 'keyword' | 'boolean') => {
    const reading = readQuery({ q, mode })
    return 'hints' in reading ? reading.hints.map(hint => ('word' in hint ? hint.word : hint.kind)) : []
  }
  t.strictSame(hintsOf('brussel or gent', 'boolean'), ['or'])
  t.strictSame(hintsOf('brussel OR gent', 'boolean'), ['OR'])
  t.strictSame(hintsOf('brussel AND gent', 'keyword'), ['AND'])
  t.strictSame(hintsOf('brussel of gent', 'boolean'), [], 'a word of the language')
  t.strictSame(hintsOf('brussel OF gent', 'boolean'), ['OF'])
  t.strictSame(hintsOf('"to be or not"', 'boolean'), [], 'within a phrase')
  t.strictSame(hintsOf('or', 'boolean'), [])
  t.strictSame(hintsOf('metro*', 'keyword'), ['wildcard'])
  t.strictSame(hintsOf('“de metro”', 'boolean'), ['quotes'])
  t.strictSame(hintsOf('"de metro" -staking', 'keyword'), ['ignoredQuotes', 'ignoredMinus'])
})
