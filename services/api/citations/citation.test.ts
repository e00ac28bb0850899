import t from 'tap'
import { openIndexOf } from '../../../search/index.ts'
import { createTestPool } from '../../../test/database.ts'
import { newArticle, openTestWriter } from '../../../test/search/short-articles.ts'
import { SHOWN_ARTICLES } from '../articles/shown-article.ts'
import { collectCited } from './citation.ts'

const { pool } = await createTestPool(t)
const { writer, indexer } = openTestWriter(pool)
t.teardown(() => indexer.close())
const all = Array.from({ length: 7 }, (_, at) => newArticle(at + 1, { title: `Brug ${at}` }))
await writer.write(all)

t.test('articles are cited in steps, between which others have their turn', async t => {
  const index = openIndexOf(pool, SHOWN_ARTICLES)
  const seqs = (await pool.query<{ seq: bigint }>('select seq from articles order by 1')).rows
  const rows = await index.articles(seqs.map(({ seq }) => seq))
  await index.close()
  let rests = 0
  const pace = {
    isDue: () => true,
    async rest() {
      rests++
    },
  }
  const pages = [rows.slice(0, 4), rows.slice(4)]
  const page = async (at: number | null) => ({
    rows: pages[at ?? 0]!,
    next: at === null ? 1 : null,
  })
  const found = await collectCited(page, work => work(pace))
  t.same(
    found.map(({ seq }) => seq),
    seqs.map(({ seq }) => seq),
  )
  t.equal(rests, all.length)
})
