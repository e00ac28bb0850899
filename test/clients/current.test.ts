import type { FromSchema } from 'json-schema-to-ts'
import t from 'tap'
import type * as client from '../../clients/typescript/src/index.ts'
import { staleFiles } from '../../scripts/clients/files.ts'
import type { ArticleObject, ErrorObject, PageEnvelope } from '../../services/api/contract/resources.ts'
import type { COUNTS_SCHEMA } from '../../services/api/explore/resources.ts'
import { examplesOf } from './examples.ts'

const ARTICLE: ArticleObject = {
  ...{ id: 'a', title: 'A', url: 'https://x.example', snippet: null, published_at: null, ingested_at: null },
  ...{ authors: [], outlet: { name: null, domain: null }, language: 'nl', country: 'NL' },
}

t.test('issue 21.6: the types of both clients are what the OpenAPI document says', async t => {
  t.strictSame(
    (await staleFiles()).map(({ path }) => path),
    [],
    'npm run clients writes them',
  )
})

t.test('issue 21.6: the written types take the answers of the API', async t => {
  // The compiler holds this: what the API sends is what a client gets.
  const page: PageEnvelope = { status: 'ok', total_results: 1, next_cursor: null, articles: [ARTICLE] }
  const counts: FromSchema<typeof COUNTS_SCHEMA> = {
    ...{ status: 'ok', by: 'outlet', total: 1, other: 0, undated: 0 },
    data: [{ key: 'x', count: 1, outlet: { name: 'x', domain: null } }],
  }
  const error: ErrorObject = { status: 'error', code: 'internal_error', message: 'No.' }
  t.ok([page satisfies client.Page, ARTICLE satisfies client.Article, error satisfies client.ErrorObject])
  t.ok(counts satisfies client.Counts)
})

t.test('issue 21.6: the READMEs have examples of every operation', async t => {
  for (const [name, fence] of [
    ['typescript', 'ts'],
    ['python', 'python'],
  ] as const) {
    const all = examplesOf(name, fence).join('\n')
    for (const operation of ['search', 'articles', 'poll', 'counts', 'feed'])
      t.match(all, new RegExp(`client\\.${operation}\\(`), `${name}: ${operation}`)
  }
})
