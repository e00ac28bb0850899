import t from 'tap'
import { startTestApi } from '../contract/api.ts'
import { runScript } from '../script.ts'

const api = await startTestApi(t)
await api.index(Array.from({ length: 5 }, (_, i) => ({ title: `Artikel ${i}` })))
await api.pool.query(
  `insert into vector_collections (name, state, model, recipe, dimensions) values ('x', 'serving', 'multilingual-e5-small', 1, 384)`,
)
await api.pool.query(
  `update embeddings set embedded_at = now() where seq in (select seq from embeddings limit 2)`,
)
await api.pool.query(
  `update embeddings set failed_at = now() where seq = (select max(seq) from embeddings where embedded_at is null)`,
)

/** What the command says. */
async function reembed(...options: string[]): Promise<string> {
  const env = { DATABASE_URL: api.config.DATABASE_URL, QDRANT_URL: 'http://127.0.0.1:9' }
  return (await runScript('reembed', options, env)).err
}

t.test('reembed --dry-run says what is not embedded yet', async t => {
  t.equal(
    await reembed('--all', '--dry-run'),
    'Would embed 2 articles with intfloat/multilingual-e5-small.\n' +
      'Not counted: 2 articles not embedded yet. Embedders put them into both collections.\n',
  )
})

t.test('reembed --cancel --dry-run names the collection, and changes nothing', async t => {
  await api.pool.query(
    `insert into vector_collections (name, state, model, recipe, dimensions) values ('y', 'filling', 'other', 1, 384)`,
  )
  t.equal(await reembed('--cancel', '--dry-run'), 'Would give up y.\n')
  t.equal(await reembed('--cancel'), 'Gave up y.\n')
  t.equal(await reembed('--cancel'), 'No collection is being filled.\n')
})
