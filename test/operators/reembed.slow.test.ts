import t from 'tap'
import { startTestApi } from '#test/contract/api'
import { answerOnTerminal, runScript } from '#test/script'
import { startWordModel } from '#test/semantic/word-model'

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

const env = { DATABASE_URL: api.config.DATABASE_URL, QDRANT_URL: 'http://127.0.0.1:9' }

/** What the command says. */
const reembed = async (...options: string[]): Promise<string> =>
  (await runScript('reembed', options, env)).err

t.test('reembed --dry-run says what is not embedded yet', async t => {
  t.equal(
    await reembed('--all', '--dry-run'),
    'Would embed 2 articles with intfloat/multilingual-e5-small.\n' +
      'Not counted: 2 articles not embedded yet. Embedders put them into both collections.\n',
  )
  const { out } = await runScript('reembed', ['--all', '--dry-run', '--json'], env)
  t.match(JSON.parse(out || '{}'), { collection: null, articles: 2, done: false })
})

t.test('reembed --cancel --dry-run names the collection, and changes nothing', async t => {
  await api.pool.query(
    `insert into vector_collections (name, state, model, recipe, dimensions) values ('y', 'filling', 'other', 1, 384)`,
  )
  t.equal(await reembed('--cancel', '--dry-run'), 'Would give up y.\n')
  t.equal(await reembed('--cancel'), 'Gave up y.\n')
  t.equal(await reembed('--cancel'), 'No collection is being filled.\n')
})

t.test('reembed asks before it takes a model that it does not know', async t => {
  const doubt = 'Perscope does not know a model nix/nix: check the name.'
  t.match(await reembed('--model', 'nix/nix', '--dry-run'), doubt)
  t.notMatch(await reembed('--model', 'baai/bge-m3', '--dry-run'), 'not know')
  const model = await startWordModel()
  t.teardown(() => model.stop())
  const said = await answerOnTerminal('n', 'reembed', ['--model', 'nix/nix', '--url', model.url], {
    ...env,
    EMBEDDINGS_API: 'openai',
  })
  const place = new URL(model.url).host
  t.match(said, `Vectors of nix/nix come from ${place}, which calls its model nix/nix.`)
  t.match(said, doubt)
  t.match(said, 'Nothing was changed.')
  t.equal(await reembed('--cancel'), 'No collection is being filled.\n')
})

t.test('reindex makes one part anew at a time', async t => {
  const { code, err } = await runScript('reindex', ['--vectors', '--copies'], env)
  t.equal(code, 2)
  t.match(err, '--vectors and --copies do not go together')
})
