import t from 'tap'
import { openIndexer } from '../../search/indexer.ts'
import { openImporter } from '../../search/indexing/import.ts'
import { openArticleWriter } from '../../search/indexing/writer.ts'
import { SEGMENT_THREAD } from '../../shared/postgres/segment-thread.ts'
import { newArticle } from '../search/short-articles.ts'
import { startTestApi } from './api.ts'

// Bounds that only many articles reach, to the article: the last one is in no segment yet.
const api = await startTestApi(t)
const { secret } = await api.issue()
const title = 'Sluis aan kade'
const indexer = openIndexer(api.pool, SEGMENT_THREAD)
t.teardown(() => indexer.close())
const writer = openArticleWriter({ pool: api.pool, indexer, embedDelay: 3_600_000 })
const importer = openImporter({ pool: api.pool, writer, indexer, embedDelay: 3_600_000, written() {} })

async function fill(from: number, to: number): Promise<void> {
  for (let at = from; at < to; at += 2_000) {
    const count = Math.min(2_000, to - at)
    await importer.add(Array.from({ length: count }, (_, n) => newArticle(at + n, { title })))
  }
  await importer.flush()
}

const near = () => api.ask(secret, `/explore/articles?search=expression&q=kade+NEAR/1+sluis&per_page=1`)
const headers = { 'Content-Type': 'application/json' }
const cite = () => api.ask(secret, '/explore/citations', { method: 'POST', headers, body: '{"search":"q=sluis"}' })

t.test('NEAR reads 50,000 articles, and asks for a word where there are more', async t => {
  await fill(0, 50_000)
  t.match(await near(), { status: 200, json: { articles: [{ title }] } })
  await api.index([{ title }])
  t.match(await near(), { status: 422, json: { errors: { q: [/more than 50000 articles.*add a word/] } } })
})

t.test('a citation has 100,000 articles, and is refused where there are more', async t => {
  await fill(50_000, 99_999)
  t.match(await cite(), { status: 201, json: { count: 100_000 } })
  await api.index([{ title }])
  t.match(await cite(), { status: 422, json: { errors: { search: [/finds 100001 articles.*at most 100000/] } } })
})
