import t from 'tap'
import { wordList } from '../analysis/index.ts'
import { minuteOf } from '../execute/collector.ts'
import {
  filterTerms,
  inTitle,
  NOTHING_STATED,
  parseNameTerm,
  parseWordTerm,
  TERMS,
} from '../terms.ts'
import type { Language } from '../vocabulary.ts'
import CASES from './cases.json' with { type: 'json' }
import { parseExpression } from './expression.ts'
import { holding } from './holds.ts'
import { planMatch } from './match.ts'
import { and, andNot, or, parseBoolean, parseKeyword, QUERY_PROBLEMS, term } from './parse.ts'

/** The required phrases, then the excluded ones with a minus, each as one text. */
function read(q: string): string[] | 'refused' {
  const parsed = parseBoolean(q)
  if (!parsed.ok || parsed.match.kind !== 'boolean') return 'refused'
  const { required, excluded } = parsed.match
  return [
    ...required.map(words => words.join(' ')),
    ...excluded.map(words => `-${words.join(' ')}`),
  ]
}

t.test('decision 18: words, phrases and exclusions', async t => {
  for (const [q, expected] of CASES.boolean as [string, string[]][]) t.same(read(q), expected, q)
})

t.test(
  'decision 18: an unbalanced quote, and exclusions alone, are refused with a sentence',
  async t => {
    for (const q of ['"a', 'a "b" "', '-"a', '-a', '-a -"b c"', '"" -a', '-a ½']) {
      const parsed = parseBoolean(q)
      t.equal(parsed.ok, false, q)
      if (!parsed.ok) t.match(parsed.errors, [/^[A-Z].*\.$/], q)
    }
  },
)

t.test('decision 19: without a letter or digit nothing is searched for', async t => {
  for (const q of ['', '-', '""', '"-" (½)', '\u0301']) {
    const refused = { ok: false, errors: [QUERY_PROBLEMS.nothing] }
    t.same(parseBoolean(q), refused, JSON.stringify(q))
    t.same(parseKeyword(q), refused, JSON.stringify(q))
  }
})

t.test(
  'decision 17: a keyword query is its words, each once; signs of the grammar are punctuation',
  async t => {
    t.same(parseKeyword('"De Fiets" -de FIETS, cœur'), {
      ok: true,
      match: { kind: 'keyword', words: ['de', 'fiets', 'coeur'] },
    })
    t.match(parseKeyword('fiets'), { match: { words: ['fiets'] } })
    t.equal(parseKeyword('\uff9e').ok, false, 'a letter that makes no word')
  },
)

t.test('a tree has no node that says nothing', async t => {
  const a = term('a')
  const b = term('b')
  const c = term('c')
  t.same([and([a]), or([a]), andNot(a, [])], [a, a, a])
  t.same(and([and([a, b]), c]), { kind: 'and', of: [a, b, c] })
  t.same(and([or([a, b]), c]), { kind: 'and', of: [{ kind: 'or', of: [a, b] }, c] })
  t.same(andNot(a, [b]), { kind: 'andNot', of: a, not: [b] })
})

t.test('a text holds an expression, or does not', async t => {
  const list = (text: string) => wordList(text.split(' ').filter(word => word !== ''))
  for (const [q, title, body, wanted] of CASES.holds as [string, string, string, boolean][]) {
    const parsed = parseExpression(q)
    const text = { title: list(title), body: list(body) }
    t.equal(
      parsed.ok && holding(parsed.match.tree)(text, 'en'),
      wanted,
      `${q} in ${title}, ${body}`,
    )
  }
})

t.test('the first letter of a term says of which kind it is', async t => {
  for (const [term, ...wanted] of CASES.terms as [string, object | null, object | null][])
    t.same([parseWordTerm(term), parseNameTerm(term)], wanted, term)
  t.same(
    [TERMS.word('x'.repeat(255)).length, TERMS.word('x'.repeat(256)).length],
    [255, 65],
    'a digest',
  )
  const whole = [TERMS.word('sluis'), TERMS.stem('nl', 'sluis')]
  t.same(whole.map(inTitle), [TERMS.titleWord('sluis'), TERMS.titleStem('nl', 'sluis')])
  t.same(
    [59_999, 60_000, Number.NaN].map(minuteOf),
    [0, 1, -(2 ** 31)],
    'an article without a time comes first',
  )
  const article = { country: 'NL', language: 'nl', publisherNo: 1, ...NOTHING_STATED } as const
  t.same(
    [filterTerms({ ...article, authorNos: [] })[2], filterTerms({ ...article, authorNos: [7] })[2]],
    ['H0', 'H1'],
  )
  const stated = { section: 'Économie', kind: 'opinion', access: 'free' } as const
  const terms = filterTerms({ ...article, ...stated, authorNos: [] })
  t.same(terms.slice(4), ['Eeconomie', 'Kopinion', 'Ffree'])
  t.equal(filterTerms({ ...article, authorNos: [] }).length, 4, 'an outlet that states nothing')
})

t.test('a query is planned as terms, and their weights', async t => {
  const readers = { keyword: parseKeyword, boolean: parseBoolean, expression: parseExpression }
  for (const [mode, q, scope, languages, wanted] of CASES.plans as Plan[]) {
    const parsed = readers[mode](q)
    // `test/search/price.test.ts` tries what NEAR costs.
    const { nears: _, ...plan } = parsed.ok ? planMatch(parsed.match, scope, languages) : {}
    t.same(plan, wanted, `${mode} ${q} in ${scope}, ${languages}`)
  }
})

type Plan = [
  'keyword' | 'boolean' | 'expression',
  string,
  'title_body' | 'title',
  Language[] | null,
  object,
]
