import t from 'tap'
import { historyStart } from '#shared/plans/reach'
import { ApiError } from './errors.ts'
import {
  type ArticlesRequest,
  checkPlan,
  readRequest,
  readSearch,
  searchOf,
  spellingsOf,
  titleOf,
} from './request.ts'
import CASES from './requests.json' with { type: 'json' }

/** A text of the table: `a{3}` and `(ab){3}` are repeated. */
const repeated = (text: string) =>
  text.replace(/(?:\(([^)]+)\)|(.))\{(\d+)\}/g, (_, part, sign, times) =>
    (part ?? sign).repeat(Number(times)),
  )

const read = (query: string) => readRequest(query, 'articles')

/** Why a query is refused, by parameter; null when it is accepted. */
function refusal(
  query: string,
  operation: 'articles' | 'feed' = 'articles',
  reader = readRequest,
): Record<string, string[]> | null {
  try {
    reader(query, operation)
    return null
  } catch (error) {
    if (error instanceof ApiError && error.code === 'invalid_request') return error.errors ?? {}
    throw error
  }
}

t.test('the contract: defaults', async t => {
  t.strictSame(read(''), {
    question: {
      search: 'keyword',
      match: { kind: 'all' },
      searchIn: 'title',
      sort: 'published_at',
    },
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
    section: null,
    kinds: null,
    access: null,
    order: 'desc',
    perPage: 25,
    cursor: null,
  } satisfies ArticlesRequest)
  t.equal(read('search=semantic&q=ab').question.sort, 'relevance')
})

for (const [about = '', one = '', other = ''] of CASES.same) {
  t.test(`${about}: ?${one} is ?${other}`, async t => {
    t.strictSame(read(one), read(other))
  })
}

for (const [about, written, names] of CASES.refused as [string, string, string[]][]) {
  const query = repeated(written)
  t.test(`${about}: ?${query.slice(0, 60)} is 422`, async t => {
    const errors = refusal(query)
    t.strictSame(Object.keys(errors ?? {}).sort(), [...names].sort())
    t.same(
      Object.keys(refusal(query, 'articles', readSearch) ?? {}),
      Object.keys(errors ?? {}),
      'beside the contract, too',
    )
    for (const sentences of Object.values(errors ?? {}))
      t.ok(sentences.length > 0 && sentences.every(one => one !== ''))
  })
}

for (const query of CASES.taken.map(repeated)) {
  t.test(`?${query.slice(0, 60)} is taken`, async t => {
    t.equal(refusal(query), null)
  })
}

t.test('decision 11: length is counted in code points after trimming and NFC', async t => {
  t.equal(read(`q=${'e%CC%81'.repeat(191)}`).q, 'é'.repeat(191))
})

for (const [written = '', name = ''] of CASES.meant) {
  t.test(
    `decision 10: ${written} ${name ? `is met with ${name}` : 'is met with no guess'}`,
    async t => {
      const sentence = refusal(`${written}=1`)?.[written]?.[0] ?? ''
      if (name) t.match(sentence, new RegExp(`did you mean ${name}\\?`))
      else t.notMatch(sentence, /did you mean/)
    },
  )
}

t.test('decision 30: the feed knows every parameter but the cursor', async t => {
  t.strictSame(Object.keys(refusal('cursor=abc', 'feed') ?? {}), ['cursor'])
  t.equal(refusal('cursor=', 'feed'), null)
  t.equal(refusal('per_page=100&q=a', 'feed'), null)
})

t.test(
  'decisions 21 and 32: a request has one spelling, and a title that says what differs from the defaults',
  async t => {
    for (const [query = '', spelt = '', bounds = ''] of CASES.spelt.map(row => row.map(repeated))) {
      const request = readSearch(query, 'feed')
      const {
        published_after: after,
        published_before: before,
        ingested_after: since,
      } = spellingsOf(request)
      t.equal(decodeURIComponent(searchOf(request)), spelt, query)
      t.equal(
        [after, before, since]
          .map(({ bound }) => bound)
          .filter(bound => bound !== null)
          .join(' '),
        bounds,
        query,
      )
    }
    t.equal(titleOf('News', readSearch('', 'feed')), 'News')
    t.equal(
      titleOf('News', readSearch('q=a b&order=asc&per_page=9', 'feed')),
      'News: q=a b, order=asc',
    )
  },
)

t.test(
  'decisions 6 and 13: a request is held against its plan as a whole, first its countries',
  async t => {
    const start = historyStart({ kind: 'rolling', days: 30 }, new Date('2026-11-25T10:00:00Z'))
    t.same(start, new Date('2026-10-26'))
    const history = { kind: 'fixed' as const, at: start }
    t.equal(historyStart(history, new Date(0)), start)
    const outcome = (query: string) => {
      try {
        return checkPlan(
          read(query),
          { countries: ['NL', 'BE'], history, rate: 60, quota: null },
          start,
        ).join()
      } catch (error) {
        return error instanceof ApiError ? error.code : error
      }
    }
    t.equal(outcome(''), 'NL,BE')
    t.equal(outcome('country=NL&published_after=2026-10-26'), 'NL')
    t.equal(outcome('country=NL,LU&published_after=2026-10-25'), 'country_not_included')
    t.equal(outcome('published_after=2026-10-25T23:59:59.9999'), 'history_not_included')
  },
)
