import t from 'tap'
import { openImporter } from '#search/indexing/import'
import { isWhole } from '#test/script'
import { newArticle, openTestWriter } from '#test/search/short-articles'
import { sent, startTestApi } from './api.ts'

// Bounds that only many articles reach, to the article: the last one is in no segment yet.
const { pool, issue, ask, index } = await startTestApi(t)
const { secret } = await issue()
const embedDelay = 3_600_000
const { indexer, writer } = openTestWriter(pool, embedDelay)
t.teardown(() => indexer.close())
const importer = openImporter({ pool, indexer, writer, embedDelay, written() {} })
const title = 'Sluis aan kade'

async function fill(from: number, to: number): Promise<void> {
  for (let at = from; at < to; at += 1_000) {
    await importer.add(
      Array.from({ length: Math.min(1_000, to - at) }, (_, n) => newArticle(at + n, { title })),
    )
  }
  await importer.flush()
}

t.test('NEAR reads 50,000 articles, and asks for a word where there are more', async t => {
  const near = () =>
    ask(secret, '/explore/articles?search=expression&q=kade+NEAR/1+sluis&per_page=1')
  await fill(0, 50_000)
  t.match(await near(), { status: 200, json: { articles: [{ title }] } })
  await index([{ title }])
  t.match(await near(), {
    status: 422,
    json: { errors: { q: [/50000 articles with both sides.*Add a word/] } },
  })
})

const skip = !isWhole && 'npm run test:long tries it'
t.test('a citation has 100,000 articles, and no more', { skip }, async t => {
  const post = sent('POST', { search: 'q=sluis' })
  await fill(50_000, 99_999)
  t.match(await ask(secret, '/explore/citations', post), { status: 201, json: { count: 100_000 } })
  await index([{ title }])
  const errors = { search: [/finds 100001 articles.*at most 100000/] }
  t.match(await ask(secret, '/explore/citations', post), { status: 422, json: { errors } })
})
