import t from 'tap'
import { openApiIndex } from '#services/api/serve'
import { openCopyGroups } from '#shared/copies/pass'
import { removeArticles } from '#shared/removals/remove'
import { startTestApi } from './api.ts'

/** Runs once, before the index reads the articles of an answer. */
let first: (() => Promise<unknown>) | null = null

const api = await startTestApi(t, {}, undefined, undefined, (servers, config) => {
  const index = openApiIndex(servers, config)
  const articles: typeof index.articles = async (...given) => {
    const work = first
    first = null
    await work?.()
    return index.articles(...given)
  }
  return new Proxy(index, {
    get: (_, name) => (name === 'articles' ? articles : Reflect.get(index, name)),
  })
})

t.test('a copy that is taken out during the request is left out', async t => {
  const { secret } = await api.issue()
  const body = Array.from({ length: 100 }, (_, at) => `brug${at}`).join(' ')
  await api.index(
    ['een', 'twee', 'drie'].map(name => ({
      title: 'Kopie',
      body,
      url: `https://${name}.example/1`,
      outlet: { name, domain: `${name}.example` },
    })),
  )
  await openCopyGroups(api.pool).pass(new AbortController().signal)
  const { rows } = await api.pool.query('select seq, id from articles order by seq')
  first = () => removeArticles(api.pool, [rows[1]], 'asked for')
  const { status, json } = await api.ask(secret, `/explore/copies?id=${rows[2].id}`)
  t.equal(status, 200)
  t.match(json.data, [{ first: rows[0].id, copies: [{ article: { id: rows[0].id } }] }])
  t.equal(json.data[0].copies.length, 1)
})
