import { hash } from 'node:crypto'
import t from 'tap'
import { openIndexOf } from '#search/index'
import { SHOWN_ARTICLES } from '#services/api/articles/shown-article'
import { createTestPool } from '#test/database'
import { newArticle, openTestWriter } from '#test/search/short-articles'
import { citationDigest, collectCited } from './citation.ts'

const { pool } = await createTestPool(t)
const { writer, indexer } = openTestWriter(pool)
t.teardown(() => indexer.close())
const all = Array.from({ length: 7 }, (_, at) => newArticle(at + 1, { title: `Brug ${at}` }))
await writer.write(all)

/** A pace by which work rests at each occasion. */
const resting = () => ({
  rests: 0,
  isDue: () => true,
  async rest() {
    this.rests++
  },
})

t.test('articles are cited in steps, between which others have their turn', async t => {
  const index = openIndexOf(pool, SHOWN_ARTICLES)
  const seqs = (await pool.query<{ seq: bigint }>('select seq from articles order by 1')).rows
  const rows = await index.articles(seqs.map(({ seq }) => seq))
  await index.close()
  const pace = resting()
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
  t.equal(pace.rests, all.length + 1, 'after each article, and before they are sorted')
})

t.test('lines of a citation are sorted and hashed in steps', async t => {
  const lines = Array.from({ length: 2_001 }, (_, at) => `${(at * 7_919) % 2_001}\té${at}`)
  const text = ['a', 'b', ...lines.toSorted()].map(line => `${line}\n`).join('')
  const pace = resting()
  t.equal(await citationDigest(pace, ['a', 'b'], lines), hash('sha256', text, 'hex'))
  t.ok(pace.rests > 2 * lines.length)
})
