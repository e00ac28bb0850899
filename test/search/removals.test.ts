import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { openArchive } from '#search/archive/archive'
import { openArchiveClearing } from '#search/archive/writer'
import { INDEX_STATE, type IndexState, openIndex } from '#search/index'
import { makeSegments } from '#search/indexer'
import type { NewArticle } from '#search/types'
import { verifyIndex } from '#search/verify'
import { findArticles } from '#shared/articles/find'
import { countOf } from '#shared/postgres/pool'
import {
  clearRemoved,
  releaseArticle,
  removeArticles,
  reopenRemoved,
} from '#shared/removals/remove'
import { holdLock, lockWaits } from '#test/database'
import { createRandom } from '#test/faults/random'
import { until } from '#test/fleet'
import { FEW, openArchiveIndex } from './archive-index.ts'
import { differences, queryOf, readPages } from './comparison.ts'
import { tokenise } from './model-checks.ts'
import { answer, type Known } from './oracle.ts'
import { EVERYTHING } from './poller.ts'
import { randomArticles } from './random-articles.ts'
import { newArticle } from './short-articles.ts'
import { makeTestSegments, met, openTestIndex, TEST_ARCHIVE } from './store.ts'

const UNCLEARED_SEGMENTS =
  'select from segments join tombstones on seq between first_seq and last_seq and number > cleared'
const BUCKETS = 'select block from segment_buckets'

// Each test has a database of its own, and waits for much of its time. All share an archive.
t.jobs = TEST_ARCHIVE === null ? 3 : 1

const signal = new AbortController().signal
const FROZEN = { ...EVERYTHING, q: null, search: 'keyword', perPage: 5 } as const

/** Articles in stored segments, and some in memory. */
async function openRemovable(test: Parameters<typeof openArchiveIndex>[0], seed: number) {
  const index = await openArchiveIndex(test)
  const known = await index.add(randomArticles(createRandom(seed), 100))
  await makeTestSegments(index.pool, FEW)
  const remove = (some: Known[]) => removeArticles(index.pool, some, 'a court has ordered it')
  const stores = TEST_ARCHIVE === null ? [] : [openArchiveClearing(index.pool, TEST_ARCHIVE)]
  const clear = () => clearRemoved(index.pool, stores, signal)
  return { ...index, known, remove, clear }
}

const SIZES = { cap: 10_000, memory: { segment: 8n, words: 500 }, first: 100, prefetch: 100 }

t.test('an article that was taken out since the last search is not among given ones', async t => {
  const { search, known, remove } = await openRemovable(t, 7)
  const query = queryOf(FROZEN)!
  const seqs = known.map(({ seq }) => seq)
  const count = async () => (await search.countAmong(seqs, query, { by: 'outlet' })).total
  const found = await search.filter(seqs, query)
  t.equal(await count(), found.length)
  await remove(known.filter(({ seq }) => seq === found[0]!.seq))
  t.equal((await search.filter(seqs, query)).length, found.length - 1)
  t.equal(await count(), found.length - 1)
})

t.test('given articles are found by a state whose segments were replaced since', async t => {
  const { add, pool, known } = await openRemovable(t, 19)
  const query = queryOf(FROZEN)!
  const seqs = known.map(({ seq }) => seq)
  // These questions ask OpenSearch nothing. So nobody need listen there.
  const nobody = { nodes: ['http://127.0.0.1:9'], user: '', password: '', prefix: 'no', timeout: 1 }
  const search = openIndex(pool, { elsewhere: openArchive(pool, TEST_ARCHIVE ?? nobody) })
  t.teardown(() => search.close())
  for (const reader of ['new', 'that has met other segments']) {
    const { rows } = await pool.query<IndexState>(
      `select ${INDEX_STATE.columns} from ${INDEX_STATE.tables}`,
    )
    await add(randomArticles(createRandom(20 + reader.length), 40))
    await makeSegments(pool, FEW)
    const found = await search.filter(seqs, query, rows[0])
    t.equal(found.length, answer(known, FROZEN)!.ids.length, `a process ${reader}`)
    const counts = await search.countAmong(seqs, query, { by: 'outlet' }, undefined, rows[0])
    t.equal(counts.total, found.length)
  }
})

// Held here: decision 49.
t.test('no search, page, total or count shows an article that was taken out', async t => {
  const { pool, search, known, remove, clear } = await openRemovable(t, 7)
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

  t.equal(await clear(), 0)
  t.same(await differences(search, left, random, 30), [])
  const fresh = openTestIndex(pool)
  t.teardown(() => fresh.close())
  t.same(await differences(fresh, left, random, 30), [])
})

t.test('nothing of its words, addresses and authors stays in Postgres', async t => {
  const { add, pool, remove, clear, database } = await openRemovable(t, 9)
  const word = (article: NewArticle) => ({ ...article, title: `${article.title} verdwijnwoord` })
  const marked = (await add(randomArticles(createRandom(10), 60).map(word))).slice(0, 60)
  await makeSegments(pool, FEW)
  const has = async () =>
    (await database.query(BUCKETS)).some(({ block }) => `${block}`.includes('verdwijnwoord'))
  t.equal(await has(), true)
  await remove(marked)
  t.equal(await clear(), 0)
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
  t.same((await findArticles(pool, [{ word: 'nothing', key: key! }])).found, [
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

t.test('later pages count the articles of segments before them, too', async t => {
  const { pool, add, known, remove } = await openRemovable(t, 14)
  await remove(known)
  const at = (hour: number) => new Date(Date.UTC(2026, 1, 1 + hour))
  const articles = await add(
    Array.from({ length: 60 }, (_, n) => newArticle(9_000 + n, { publishedAt: at(n) })),
  )
  await makeSegments(pool, { flushed: 8n, merged: 10_000n })
  const search = openTestIndex(pool)
  t.teardown(() => search.close())
  const query = { ...EVERYTHING, perPage: 10 }
  const read = (next: Awaited<ReturnType<typeof search.search>>['next']) =>
    search.search(query, next, { first: 8 })
  let page = await read(null)
  for (let number = 2; number < 5; number++) page = await read(page.next)
  t.equal(page.total, 60)
  await remove([articles[0]!])
  page = await read(page.next)
  t.equal(page.total, 59)
  t.same([(await read(page.next)).total, (await read(null)).total], [59, 59])
})

t.test(
  'a page whose article is taken out while it is read is whole, and so are the next',
  async t => {
    const { pool, known, remove } = await openRemovable(t, 13)
    const ids = answer(known, FROZEN)!.ids
    const gone = known.find(({ id }) => id === ids[2])!
    let isDue = true
    const during = met(pool, async (name, ask) => {
      if (name === 'search-stored' && isDue) {
        isDue = false
        await remove([gone])
      }
      return ask()
    })
    const search = openTestIndex(during)
    t.teardown(() => search.close())
    const pages = await readPages(search.search, queryOf(FROZEN)!, SIZES)
    t.equal(isDue, false)
    t.same(
      pages.ids,
      ids.filter(id => id !== gone.id),
    )
    t.same(pages.totals, [`${ids.length - 1}`])
  },
)

t.test('the mask of a state has the removals of this state, whoever reads another one', async t => {
  const { pool, known, remove } = await openRemovable(t, 14)
  const [first, second] = [known[3]!, known[5]!] as const
  const held: (() => void)[] = []
  const search = openTestIndex(
    met(pool, async (name, ask) => {
      const answered = await ask()
      if (name === 'search-removed' && held.length < 2)
        await new Promise<void>(resolve => held.push(resolve))
      return answered
    }),
  )
  t.teardown(() => search.close())
  await remove([first])
  const before = search.search(queryOf(FROZEN)!)
  await until(async () => held.length === 1, 10_000)
  await remove([second])
  const after = search.search(queryOf(FROZEN)!)
  await until(async () => held.length === 2, 10_000)
  held[0]!()
  await turn()
  held[1]!()
  const { length } = answer(
    known.filter(one => one !== first && one !== second),
    FROZEN,
  )!.ids
  t.equal((await after).total, length)
  t.equal((await before).total, length)
})

t.test(
  'names of authors go, unless another article has them, also one that came meanwhile',
  async t => {
    const { add, pool, remove, clear, database } = await openRemovable(t, 15)
    const by =
      (...authors: string[]) =>
      (article: NewArticle) => ({
        ...article,
        outlet: { name: 'De Krant', domain: 'krant.example' },
        authors,
      })
    const [one, two, three] = randomArticles(createRandom(16), 3)
    const [gone] = await add([by('Ada Weg', 'Bo Blijft', 'Cas Komt')(one!)])
    await add([by('Bo Blijft')(two!)])
    const names = async () =>
      (
        await database.query(
          "select name from authors where outlet = 'krant.example' order by name",
        )
      )
        .map(({ name }) => name)
        .join()
    await remove([gone!])
    t.same(
      await database.query(`select from articles where seq = ${gone!.seq} and author_nos <> '{}'`),
      [],
    )
    // The look at all articles is over when this one comes.
    let looks = 0
    const query = pool.query.bind(pool)
    Object.assign(pool, {
      async query(statement: string, values?: unknown[]) {
        const answered = await query(statement, values)
        if (`${statement}`.includes('author_nos && $1') && ++looks === 1)
          await add([by('Cas Komt')(three!)])
        return answered
      },
    })
    t.equal(await clear(), 0)
    t.equal(looks, 1)
    t.equal(await names(), 'Bo Blijft,Cas Komt')
  },
)

t.test(
  'a vacuum of one table does not keep the samples of the others from being taken',
  async t => {
    const { pool, known, remove, clear } = await openRemovable(t, 19)
    await remove([known[3]!])
    const end = await holdLock(
      pool,
      'lock table unfetched_addresses in share update exclusive mode',
    )
    t.teardown(end)
    const cleared = clear()
    await until(async () => (await lockWaits(pool)) > 0, 10_000)
    const asked = await pool
      .query("begin; set local lock_timeout = '500ms'; analyze articles (section); commit")
      .then(() => null, String)
    t.equal(asked, null)
    t.equal(
      await countOf(pool, 'select count(*)::int from tombstones where cleared_at is null'),
      1,
      'it is cleared when no sample is left, not before',
    )
    await end()
    t.equal(await cleared, 0)
  },
)

t.test('verify says how many wait to be cleared, and prints no word of them', async t => {
  const { add, pool, remove, clear } = await openRemovable(t, 17)
  const word = (article: NewArticle) => ({ ...article, title: `${article.title} verdwijnwoord` })
  const marked = await add(randomArticles(createRandom(18), 20).map(word))
  await makeSegments(pool, FEW)
  await remove(marked.slice(0, 3))
  const verified = async () => {
    const faults: string[] = []
    const found = (kind: string, text: string) => faults.push(`${kind}: ${text}`)
    const { waiting } = await verifyIndex({
      pool,
      tokenise,
      found,
      signal,
      sample: null,
      progress() {},
    })
    return { waiting, faults }
  }
  t.same(await verified(), { waiting: 3, faults: [] })
  // As if a segment were noted as cleared, and were not.
  await pool.query('update segments set cleared = 3')
  const { faults } = await verified()
  t.match(faults.join(), /segments: .* a word differs in articles/)
  t.notMatch(faults.join(), 'verdwijnwoord')
  await pool.query('update segments set cleared = 0')
  await pool.query("update tombstones set removed_at = removed_at - interval '61 minutes'")
  t.match(await verified(), {
    waiting: 3,
    faults: ['removed: 3 articles that were taken out wait to be cleared for more than an hour'],
  })
  t.equal(await clear(), 0)
  t.same(await verified(), { waiting: 0, faults: [] })
  const { seq } = marked[0]!
  for (const back of [
    `update articles set section = 'Sport', author_nos = '{1}' where seq = ${seq}`,
    `insert into article_words values (${seq}, 'woord', 'woord')`,
  ]) {
    await pool.query(back)
    t.match((await verified()).faults.join(), 'removed: ', back)
    await reopenRemoved(pool, signal)
    t.equal(await clear(), 0)
    t.same(await verified(), { waiting: 0, faults: [] }, 'what came back is cleared, too')
  }
})
