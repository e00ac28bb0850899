import t from 'tap'
import { makeSegments } from '../../search/indexer.ts'
import type { NewArticle } from '../../search/types.ts'
import {
  clearRemoved,
  findDoomed,
  releaseArticle,
  removeArticles,
} from '../../shared/removals/remove.ts'
import { createRandom } from '../faults/random.ts'
import { FEW, openArchiveIndex } from './archive-index.ts'
import { differences, queryOf } from './comparison.ts'
import { answer, type Known } from './oracle.ts'
import { EVERYTHING } from './poller.ts'
import { randomArticles } from './random-articles.ts'
import { openTestIndex } from './store.ts'

const UNCLEARED_SEGMENTS =
  'select from segments join tombstones on seq between first_seq and last_seq and number > cleared'
const BUCKETS = 'select block from segment_buckets'

const signal = new AbortController().signal
const FROZEN = { ...EVERYTHING, q: null, search: 'keyword', perPage: 5 } as const

/** Articles in stored segments, and some in memory. */
async function openRemovable(test: Parameters<typeof openArchiveIndex>[0], seed: number) {
  const index = await openArchiveIndex(test)
  const known = await index.add(randomArticles(createRandom(seed), 100))
  await makeSegments(index.pool, FEW)
  const remove = (some: Known[]) => removeArticles(index.pool, some, 'a court has ordered it')
  return { ...index, known, remove }
}

// Held here: decision 49.
t.test('no search, page, total or count shows an article that was taken out', async t => {
  const { pool, search, known, remove } = await openRemovable(t, 7)
  const random = createRandom(8)
  t.same(await differences(search, known, random, 30), [])
  const first = await search.search(queryOf(FROZEN)!)
  const gone = known.filter((_, at) => at % 9 === 4 || at > known.length - 3)
  const removals = await remove(gone)
  t.same(
    removals.map(({ number, id }) => `${number} ${id}`),
    gone.map(({ id }, at) => `${at + 1} ${id}`),
    'removals have numbers of their own',
  )
  t.same(await remove(gone), [], 'the second time nothing happens')
  const left = known.filter(one => !gone.includes(one))
  t.same(await differences(search, left, random, 60), [])
  const expected = answer(left, FROZEN)!.ids
  const passed = await search.filter(
    known.map(({ seq }) => seq),
    queryOf(FROZEN)!,
  )
  t.same(passed.map(({ id }) => id).sort(), [...expected].sort())
  const shown = first.rows.map(({ id }) => id)
  const last = first.rows.at(-1)!.id
  const ids = answer(known, FROZEN)!.ids
  const following = ids.slice(ids.indexOf(last) + 1).filter(id => expected.includes(id))
  const second = await search.search(queryOf(FROZEN)!, first.next)
  t.same(
    second.rows.map(({ id }) => id),
    following.slice(0, 5),
    `after ${shown}`,
  )
  t.equal(second.total, expected.length, 'later pages count without it')
  t.equal((await search.search(queryOf(FROZEN)!, second.next)).total, expected.length)

  t.equal(await clearRemoved(pool, [], signal), 0)
  t.same(await differences(search, left, random, 30), [])
  const fresh = openTestIndex(pool)
  t.teardown(() => fresh.close())
  t.same(await differences(fresh, left, random, 30), [])
})

t.test('nothing of its words, addresses and authors stays in Postgres', async t => {
  const { add, pool, remove, database } = await openRemovable(t, 9)
  const word = (article: NewArticle) => ({ ...article, title: `${article.title} verdwijnwoord` })
  const marked = (await add(randomArticles(createRandom(10), 60).map(word))).slice(0, 60)
  await makeSegments(pool, FEW)
  const has = async () =>
    (await database.query(BUCKETS)).some(({ block }) => `${block}`.includes('verdwijnwoord'))
  t.equal(await has(), true)
  await remove(marked)
  t.equal(await clearRemoved(pool, [], signal), 0)
  t.equal(await has(), false, 'its words have left the bytes of segments')
  for (const { id, seq } of marked) {
    for (const table of ['article_texts', 'article_words', 'embeddings'])
      t.same(await database.query(`select from ${table} where seq = ${seq}`), [], table)
    t.same(await database.query(`select from article_addresses where id = '${id}'`), [])
  }
  t.same(await database.query(UNCLEARED_SEGMENTS), [], 'segments are written again')
})

t.test('it does not come back under any of its addresses, until it is released', async t => {
  const { add, pool, known, remove, search } = await openRemovable(t, 11)
  const gone = known[12]!
  const { ingestedAt: _stamp, ...again } = gone
  const total = async () => (await search.search(queryOf(FROZEN)!)).total
  const before = await total()
  const [key] = gone.addresses
  t.same((await findDoomed(pool, [{ word: 'nothing', key: key! }])).found, [
    { seq: gone.seq, id: gone.id },
  ])
  await remove([gone])
  const alias = 'elsewhere.example/alias'
  t.same(await add([{ ...again, addresses: [...gone.addresses, alias] }]), [])
  t.same(await add([{ ...again, addresses: [alias] }]), [], 'an alias is barred, too')
  t.equal(await releaseArticle(pool, gone.id), true)
  t.equal(await releaseArticle(pool, 'unknown'), false)
  const [back] = await add([again])
  t.ok(back !== undefined && back.id !== gone.id, 'its id stays dead')
  t.equal(await total(), before)
})
