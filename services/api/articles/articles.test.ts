import fc from 'fast-check'
import t from 'tap'
import { LISTED_ROW, type ListedRow } from '../../../test/contract/rows.ts'
import { pageBody } from './articles.ts'
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
      const joined = pageBody({ total, estimate, nextCursor: JSON.stringify(cursor) }, rows.map(shown))
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
      const body = (articles: Listed[]) => pageBody({ total: 1, estimate: false, nextCursor: 'null' }, articles)
      const lists = [[a], [b], [a, b], [b, a], [a, a], [], [{ ...a, relevance: 0.5 }], [{ ...a, title: `${a.title}x` }]]
      for (const [x, y] of lists.flatMap(x => lists.map(y => [x.map(shown), y.map(shown)] as const))) {
        t.equal(digest(x) === digest(y), body(x).equals(body(y)))
      }
    }),
  )
})
