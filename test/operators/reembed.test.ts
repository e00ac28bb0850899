import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import t from 'tap'
import { startTestApi } from '../contract/api.ts'

const api = await startTestApi()
t.teardown(() => api.stop())
await api.index(Array.from({ length: 5 }, (_, i) => ({ title: `Artikel ${i}` })))
await api.pool.query(
  `insert into vector_collections (name, state, model, recipe, dimensions) values ('x', 'serving', 'multilingual-e5-small', 1, 384)`,
)
await api.pool.query(`update embeddings set embedded_at = now() where seq in (select seq from embeddings limit 2)`)
await api.pool.query(
  `update embeddings set failed_at = now() where seq = (select max(seq) from embeddings where embedded_at is null)`,
)

t.test('issue 21.9: reembed --dry-run says what is not embedded yet', async t => {
  const script = new URL('../../scripts/reembed.ts', import.meta.url).pathname
  const env = { ...process.env, DATABASE_URL: api.config.DATABASE_URL, QDRANT_URL: 'http://127.0.0.1:9' }
  const { stderr } = await promisify(execFile)(process.execPath, [script, '--all', '--dry-run'], { env })
  t.equal(
    stderr,
    'Would embed 2 articles with intfloat/multilingual-e5-small.\n' +
      'Not counted: 2 articles not embedded yet. Embedders put them into both collections.\n',
  )
})
