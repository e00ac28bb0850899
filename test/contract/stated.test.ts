import t from 'tap'
import { verifyIndex } from '#search/verify'
import { removeArticles } from '#shared/removals/remove'
import { storePages } from '#test/normaliser/stored'
import { runScript } from '#test/script'
import { tokenise } from '#test/search/model-checks'
import { makeTestSegments } from '#test/search/store'
import { startTrains } from './api.ts'

const { api, secret, at } = await startTrains(t)
const stated = (
  section: string | null,
  kind: 'news' | 'opinion' | null,
  access: 'paid' | null,
) => ({
  stated: { section, kind, access },
})
await api.index([
  { title: 'Sluis open', ...at('2026-04-01T08:00:00Z'), ...stated('Économie', 'news', null) },
  { title: 'Sluis dicht', ...at('2026-04-02T08:00:00Z'), ...stated('ECONOMIE', 'opinion', 'paid') },
  { title: 'Sluis weg', ...at('2026-04-03T08:00:00Z'), ...stated(null, null, 'paid') },
])

const ask = (path: string) => api.ask(secret, path)
const titles = async (query: string) =>
  (await ask(`/explore/articles?${query}`)).json.articles.map(
    ({ title }: { title: string }) => title,
  )

t.test('articles show what their outlets say, beside the contract alone', async t => {
  const { json } = await ask('/explore/articles?q=sluis')
  const [third, second, first] = json.articles
  t.match(first, { section: 'Économie', kind: 'news', relevance: undefined })
  t.match(second, { section: 'ECONOMIE', kind: 'opinion', access: 'paid' })
  t.notOk('access' in first || 'section' in third || 'kind' in third, 'nothing stands for nothing')
  const contract = (await ask('/v1/articles?q=sluis')).json.articles
  const bare = json.articles.map(
    ({ section, kind, access, ...one }: Record<string, unknown>) => one,
  )
  t.strictSame(contract, bare)
  t.strictSame((await ask(`/explore/articles/${second.id}`)).json.data, second)
  const one = await ask('/v1/articles?section=x&kind=news&access=free')
  t.strictSame([one.status, Object.keys(one.json.errors)], [422, ['section', 'kind', 'access']])
})

for (const where of ['in memory', 'in segments']) {
  t.test(`filters and counts tell what is said: ${where}`, async t => {
    if (where === 'in segments') {
      await makeTestSegments(api.pool, { flushed: 7n, merged: 64n })
      t.equal((await api.pool.query('select from segments where last_seq = 7')).rowCount, 1)
    }
    t.same(await titles('section=economie'), ['Sluis dicht', 'Sluis open'])
    t.same(await titles('section=econom'), [], 'a whole section')
    t.same(await titles('kind=opinion,news&section=%C3%89conomie'), ['Sluis dicht', 'Sluis open'])
    t.same(await titles('kind[]=opinion&access=paid'), ['Sluis dicht'])
    t.same(await titles('access=PAID'), ['Sluis weg', 'Sluis dicht'])
    t.same(await titles('access=free'), [])
    const counts = async (query: string) => {
      const { total, data, other, unsaid } = (await ask(`/explore/counts?${query}`)).json
      const told = data.map(({ key, count }: { key: string; count: number }) => `${key} ${count}`)
      return [total, told.join(), other, unsaid]
    }
    t.same(await counts('by=section'), [7, 'ECONOMIE 2', 0, 5])
    t.same(await counts('by=kind'), [7, 'news 1,opinion 1', 0, 5])
    t.same(await counts('by=access&kind=opinion'), [1, 'paid 1', 0, 0])
    t.notOk('unsaid' in (await ask('/explore/counts?by=outlet')).json)
  })
}

t.test('values that are none, or mean all, are refused', async t => {
  for (const query of [
    'section=%20%CC%81',
    'kind=column',
    'access=metered',
    `section=${'x'.repeat(101)}`,
  ])
    t.equal((await ask(`/explore/articles?${query}`)).status, 422, query)
})

t.test('who takes an article out takes out what was said of it', async t => {
  const { rows } = await api.pool.query<{ seq: bigint; id: string }>(
    "select seq, id from articles where kind = 'opinion'",
  )
  await removeArticles(api.pool, rows, 'test')
  const left = 'select from articles where seq = $1 and num_nonnulls(section, kind, access) > 0'
  t.equal((await api.pool.query(left, [rows[0]!.seq])).rowCount, 0)
  t.same(await titles('section=economie'), ['Sluis open'])
})

t.test('a process of a former version makes no segment that lacks what was said', async t => {
  const update = api.pool.query('update segments set stated = false')
  await t.rejects(update, /lacks what outlets say/)
})

t.test('what is not said yet is read once from pages that are still stored', async t => {
  await api.index([{ title: 'Sluis stil', ...at('2026-04-04T08:00:00Z') }])
  const page = (section: string) => `<!doctype html><html lang="nl"><head><title>Trein</title>
    <script type="application/ld+json">{"@type":"ReportageNewsArticle","headline":"Trein","articleSection":"${section}"}</script>
    </head><body><article><p>De trein rijdt.</p></article></body></html>`
  const query = async (text: string, values: unknown[] = []) =>
    (await api.pool.query(text, values)).rows
  const pages = await storePages({ query }, [
    { path: '/1', html: page('Binnenland'), title: 'Trein' },
    { path: '/2', html: page('Binnenland'), title: 'Trein' },
    { path: '/3', html: page('Ander'), title: 'Trein' },
    { path: '/4', html: page('Binnenland'), title: 'Trein' },
  ])
  await query("update page_sources set body = 'no page' where page_no = $1", [pages[3]])
  const [{ said, newest }] = await query(
    "select max(seq) filter (where kind = 'news') as said, max(seq) as newest from articles",
  )
  const seqs = [1n, newest, said, 2n]
  await query(
    `update embeddings e set page_no = n.no from unnest($1::bigint[], $2::bigint[]) n (seq, no) where e.seq = n.seq`,
    [seqs, pages],
  )
  const before = await ask('/explore/articles?section=binnenland')
  t.equal(before.json.total_results, 0)
  const reindex = () =>
    runScript('reindex', ['--statements'], { DATABASE_URL: api.config.DATABASE_URL })
  t.match(await reindex(), {
    code: 0,
    err: /^1 page could not be read.*statements of 7 articles/ms,
  })
  t.same(await titles('section=binnenland&kind=news'), ['Sluis stil', 'Trein rijdt weer'])
  t.match((await ask('/explore/articles?section=binnenland')).json.articles, [
    { section: 'Binnenland' },
    {},
  ])
  t.same(await titles('section=ander'), [], 'what was said stays')
  t.equal((await ask('/explore/counts?by=section')).json.total, 7)
  const version = () => query('select words_version from segments_version')
  const raised = await version()
  t.match(await reindex(), { code: 0 })
  t.same(await version(), raised, 'searches keep their memory where nothing more is said')
  const faults: string[] = []
  const found = (kind: string, text: string) => faults.push(`${kind}: ${text}`)
  const { signal } = new AbortController()
  await verifyIndex({ pool: api.pool, tokenise, found, signal, sample: null, progress() {} })
  t.same(faults, [])
})
