import fc from 'fast-check'
import t from 'tap'
import { type Answer, jsonAnswer } from '#services/api/http/answer'
import { LISTED_ROW, type ListedRow } from '#test/contract/rows'
import { type Asked, createStandingAnswers, pageBody } from './articles.ts'
import { articleObject, digestOf, type Listed, SHOWN_ARTICLES } from './shown-article.ts'

const shown = ({ relevance, ...row }: ListedRow): Listed => ({
  ...SHOWN_ARTICLES.make(row),
  ...(relevance === undefined ? {} : { relevance }),
})

const digest = (articles: Listed[]) => digestOf(articles, article => article.pieces.json)

t.test('a joined page is what JSON.stringify writes, byte for byte', async t => {
  const page = fc.record({
    total: fc.nat(10_000),
    estimate: fc.boolean(),
    cursor: fc.option(fc.base64String({ maxLength: 200 })),
    rows: fc.array(LISTED_ROW, { maxLength: 6 }),
  })
  fc.assert(
    fc.property(page, ({ total, estimate, cursor, rows }) => {
      const joined = pageBody(
        { total, estimate, nextCursor: JSON.stringify(cursor) },
        rows.map(shown),
      )
      const whole = {
        status: 'ok',
        total_results: total,
        ...(estimate ? { total_results_is_estimate: true } : {}),
        next_cursor: cursor,
        articles: rows.map(({ relevance, ...row }) => ({
          ...articleObject(row),
          ...(relevance === undefined ? {} : { relevance }),
        })),
      }
      t.equal(joined.toString(), JSON.stringify(whole))
      t.ok(joined.equals(Buffer.from(JSON.stringify(whole))))
    }),
    { numRuns: 1_000 },
  )
})

t.test('the digest of a page tells apart whatever its bytes tell apart', async t => {
  fc.assert(
    fc.property(LISTED_ROW, LISTED_ROW, (a, b) => {
      const body = (articles: Listed[]) =>
        pageBody({ total: 1, estimate: false, nextCursor: 'null' }, articles)
      const lists = [
        [a],
        [b],
        [a, b],
        [b, a],
        [a, a],
        [],
        [{ ...a, relevance: 0.5 }],
        [{ ...a, title: `${a.title}x` }],
      ]
      for (const [x, y] of lists.flatMap(x =>
        lists.map(y => [x.map(shown), y.map(shown)] as const),
      )) {
        t.equal(digest(x) === digest(y), body(x).equals(body(y)))
      }
    }),
  )
})

t.test(
  'an answer stands for who asks the same of the same index, and has it, finds nothing, or asks again',
  async t => {
    const asked: Asked = {
      operation: '/v1/articles',
      query: 'q=brug',
      plan: { countries: ['NL'], history: { kind: 'rolling', days: 7 }, rate: 60, quota: null },
      state: { lastSeq: 1n, version: 2n, wordsVersion: 3n },
      now: new Date('2026-11-20T23:59:59Z'),
    }
    const answers = createStandingAnswers()
    const { etag } = answers.keep(asked, jsonAnswer('page', 'keyword', 9))
    t.match(answers.find(asked, etag), { etag, searchMs: 0, tagged: '' })
    t.equal(answers.find(asked, etag)?.body('').length, 0, 'a client that has it needs no body')
    t.equal(answers.find({ ...asked, now: new Date('2026-11-20T00:00:00Z') }, etag)?.etag, etag)
    t.same(
      [undefined, '"other"'].map(tag => answers.find(asked, tag)),
      [null, null],
    )
    const { plan, state } = asked
    for (const other of [
      { operation: '/explore/articles' },
      { query: 'q=bru' },
      { now: new Date('2026-11-21T00:00:00Z') },
      { plan: { ...plan, countries: ['BE' as const] } },
      { plan: { ...plan, history: { kind: 'rolling' as const, days: 8 } } },
      {
        plan: {
          ...plan,
          history: { kind: 'fixed' as const, at: new Date('2026-11-13T00:00:00Z') },
        },
      },
      ...[{ lastSeq: 4n }, { version: 4n }, { wordsVersion: 4n }].map(newer => ({
        state: { ...state, ...newer },
      })),
    ])
      t.equal(answers.find({ ...asked, ...other }, etag), null)
    const withCursor = (answer: Answer): Answer => ({
      ...answer,
      untagged: () => 'null',
      body: cursor => Buffer.from(`${answer.tagged} ${cursor}`),
    })
    const bodyOf = (one: Asked) => answers.find(one, undefined)?.body('').toString()
    answers.keep(asked, withCursor({ ...jsonAnswer('none'), isEmpty: true }))
    t.equal(bodyOf(asked), 'none null')
    for (const [search, kept] of [
      ['keyword', 'page null'],
      // A kept answer would not take its price from the minute.
      ['expression', undefined],
    ] as const) {
      const one = { ...asked, query: search }
      const page = withCursor(jsonAnswer('page', search, 9))
      answers.keep(one, page)
      t.equal(bodyOf(one), undefined, 'most questions are asked once')
      t.match(answers.keep(one, page), { searchMs: 9 })
      t.equal(bodyOf(one), kept)
      t.equal(bodyOf({ ...one, state: { ...state, lastSeq: 4n } }), undefined)
      answers.keep({ ...one, state: { ...state, lastSeq: 4n } }, page)
      t.equal(bodyOf({ ...one, state: { ...state, lastSeq: 4n } }), undefined)
    }
    const other = { ...asked, query: 'search=semantic' }
    answers.keep(other, jsonAnswer('page', 'semantic'))
    t.equal(answers.find(other, '*'), null, 'its candidates change by themselves')
  },
)
