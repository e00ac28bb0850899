import t from 'tap'
import { ApiError } from './errors.ts'
import { type ArticlesRequest, readRequest } from './request.ts'

const read = (query: string) => readRequest(query, 'articles')

/** Why a query is refused, by parameter; null when it is accepted. */
function refusal(query: string, operation: 'articles' | 'feed' = 'articles'): Record<string, string[]> | null {
  try {
    readRequest(query, operation)
    return null
  } catch (error) {
    if (error instanceof ApiError && error.code === 'invalid_request') return error.errors ?? {}
    throw error
  }
}

t.test('the contract: defaults', async t => {
  t.strictSame(read(''), {
    question: { search: 'keyword', match: { kind: 'all' }, searchIn: 'title', sort: 'published_at' },
    q: null,
    countries: null,
    languages: null,
    hasAuthor: null,
    outlet: null,
    outlets: null,
    author: null,
    publishedAfter: null,
    publishedBefore: null,
    ingestedAfter: null,
    order: 'desc',
    perPage: 25,
    cursor: null,
  } satisfies ArticlesRequest)
  t.equal(read('search=semantic&q=ab').question.sort, 'relevance')
})

const same: [about: string, one: string, other: string][] = [
  ['decision 9: values in any case', 'country=nl&search=KEYWORD&order=Desc&sort=PUBLISHED_AT', 'country=NL'],
  ['decision 9: repeated', 'country=NL&country=BE', 'country=NL,BE'],
  ['decision 9: bracketed', 'country[]=NL&country[]=BE', 'country=NL,BE'],
  ['decision 9: encoded brackets', 'country%5b%5D=NL&country%5B%5D=BE', 'country=NL,BE'],
  ['decision 9: mixed forms', 'country[]=be&country=LU,nl', 'country=NL,BE,LU'],
  ['decision 9: duplicates collapse', 'language=nl,NL&language[]=nl', 'language=nl'],
  ['decision 11: an empty value is none', 'q=&country=&per_page=&cursor=&published_after=&search_in=', ''],
  ['decision 11: elements are trimmed, empty ones ignored', 'country=%20NL%20,,BE,', 'country=NL,BE'],
  ['decision 11: nothing but commas is none', 'country=,', ''],
  ['decision 11: values are trimmed', 'q=%20a%20b%20&per_page=+10', 'q=a+b&per_page=10'],
  ['decision 11: values are NFC', 'q=e%CC%81', 'q=%C3%A9'],
  ['has_author=yes', 'has_author=YES', 'has_author=1'],
  ['has_author=no', 'has_author=no', 'has_author=FALSE'],
  ['decision 21: a default spelt out', 'search=keyword&search_in=title&sort=published_at&order=desc&per_page=25', ''],
  ['decision 12: + in the offset', 'published_after=2024-01-01T00:00:00+02:00', 'published_after=2023-12-31T22:00:00Z'],
]
for (const [about, one, other] of same) {
  t.test(`${about}: ?${one} is ?${other}`, async t => {
    t.strictSame(read(one), read(other))
  })
}

const refused: [about: string, query: string, names: string[]][] = [
  ['decision 10: unknown', 'foo=1', ['foo']],
  ['decision 10: unknown without =', 'foo', ['foo']],
  ['decision 10: names have one case', 'Q=x', ['Q']],
  ['decision 10: twice', 'q=a&q=b', ['q']],
  ['decision 10: brackets on a single value', 'q[]=a', ['q[]']],
  ['decision 10: an index in brackets', 'country[0]=NL', ['country[0]']],
  ['decision 10: several mistakes at once', 'foo=1&per_page=0&q=%', ['foo', 'per_page', 'q']],
  ['decision 10: names of Object', '__proto__=1&constructor=2&toString=3', ['__proto__', 'constructor', 'toString']],
  ['decision 11: NUL in a list', 'country[]=N%00L', ['country']],
  ['the contract: country', 'country=XX', ['country']],
  ['the contract: one bad country of two', 'country=NL,XX', ['country']],
  ['the contract: language', 'language=es', ['language']],
  ['the contract: has_author', 'has_author=maybe', ['has_author']],
  ['the contract: per_page 0', 'per_page=0', ['per_page']],
  ['the contract: per_page 101', 'per_page=101', ['per_page']],
  ['the contract: per_page 1.5', 'per_page=1.5', ['per_page']],
  ['the contract: per_page 0x10', 'per_page=0x10', ['per_page']],
  ['the contract: q 192', `q=${'a'.repeat(192)}`, ['q']],
  ['the contract: outlet 192', `outlet=${'a'.repeat(192)}`, ['outlet']],
  ['the contract: author 192', `author=${'a'.repeat(192)}`, ['author']],
  ['decision 10: an author of which nothing counts would be ignored', 'author=%CC%81', ['author']],
  ['decision 10: an outlet of which nothing counts would be ignored', 'outlet=%C2%AD', ['outlet']],
  ['the contract: cursor 256', `cursor=${'a'.repeat(256)}`, ['cursor']],
  ['the contract: before and after', 'published_after=2024-05-02&published_before=2024-05-01', ['published_before']],
  ['the contract: sort=relevance', 'sort=relevance&q=a', ['sort']],
  ['the contract: semantic without q', 'search=semantic', ['q']],
  ['the contract: semantic with one letter', 'search=semantic&q=a', ['q']],
  ['the contract: semantic with one letter of two units', 'search=semantic&q=%F0%9F%98%80', ['q']],
  ['decision 11: é of two code points is one letter', 'search=semantic&q=e%CC%81', ['q']],
  ['the contract: semantic with search_in', 'search=semantic&q=ab&search_in=title', ['search_in']],
  ['the contract: only exclusions', 'search=boolean&q=-a+-b', ['q']],
  ['decision 12: ingested_after is a date-time', 'ingested_after=2024-01-01', ['ingested_after']],
  ['decision 18: an open quote', 'search=boolean&q=%22a', ['q']],
  ['decision 19: no letter or digit, keyword', 'q=---', ['q']],
  ['decision 19: no letter or digit, semantic', 'q=!!!&search=semantic', ['q']],
]
for (const [about, query, names] of refused) {
  t.test(`${about}: ?${query.slice(0, 60)} is 422`, async t => {
    const errors = refusal(query)
    t.strictSame(Object.keys(errors ?? {}).sort(), [...names].sort())
    for (const sentences of Object.values(errors ?? {}))
      t.ok(sentences.length > 0 && sentences.every(one => one !== ''))
  })
}

const taken = [
  `q=${'a'.repeat(191)}`,
  `q=${encodeURIComponent('😀'.repeat(190))}a`,
  `q=%20${'a'.repeat(191)}%20`,
  `q=${'e%CC%81'.repeat(191)}`,
  'per_page=100',
  'per_page=025',
  'search=semantic&q=ab&sort=published_at&order=asc',
  'search=semantic&q=%20ab%20',
  'search=semantic&q=x%CC%81',
  'published_after=2024-05-01&published_before=2024-05-01',
  'published_after=2024-05-01T23:00:00Z&published_before=2024-05-01',
  'outlet=%25_%5C',
]
for (const query of taken) {
  t.test(`?${query.slice(0, 60)} is taken`, async t => {
    t.equal(refusal(query), null)
  })
}

t.test('decision 11: length is counted in code points after trimming and NFC', async t => {
  t.equal(read(`q=${'e%CC%81'.repeat(191)}`).q, 'é'.repeat(191))
  t.strictSame(Object.keys(refusal(`q=${encodeURIComponent('😀'.repeat(192))}`) ?? {}), ['q'])
})

const meant: [written: string, meant: string][] = [
  ['countries', 'country'],
  ['per-page', 'per_page'],
  ['langauge', 'language'],
  ['ingested_since', ''],
  ['query', 'q'],
  ['hasauthor', 'has_author'],
  ['xyz', ''],
]
for (const [written, name] of meant) {
  t.test(`decision 10: ${written} ${name ? `is met with ${name}` : 'is met with no guess'}`, async t => {
    const sentence = refusal(`${written}=1`)?.[written]?.[0] ?? ''
    if (name) t.match(sentence, new RegExp(`did you mean ${name}\\?`))
    else t.notMatch(sentence, /did you mean/)
  })
}

t.test('decision 30: the feed knows every parameter but the cursor', async t => {
  t.strictSame(Object.keys(refusal('cursor=abc', 'feed') ?? {}), ['cursor'])
  t.equal(refusal('cursor=', 'feed'), null)
  t.equal(refusal('per_page=100&q=a', 'feed'), null)
})
