import t from 'tap'
import { INDEX_STATE, type IndexState, openIndex } from '../../search/index.ts'
import { makeSegments } from '../../search/indexer.ts'
import { randomArticles } from './archive.ts'
import { openArchiveIndex } from './archive-index.ts'
import { overheard } from './overheard.ts'
import { EVERYTHING } from './poller.ts'
import { createRandom } from './random.ts'

t.test('a search takes the state that its caller has read, also when segments have changed since', async t => {
  const index = await openArchiveIndex(t)
  const { db, names } = overheard(index.pool)
  const search = openIndex(db)
  const readState = async () => {
    const { rows } = await index.pool.query<IndexState>(`select ${INDEX_STATE.columns} from ${INDEX_STATE.tables}`)
    return rows[0]!
  }
  const ask = async (state?: Awaited<ReturnType<typeof readState>>) => {
    names.length = 0
    const { total } = await search.search(EVERYTHING, null, { state })
    return { total, read: names.includes('search-snapshot') }
  }
  const random = createRandom(7)
  const first = await index.add(randomArticles(random, 40))
  const before = await readState()
  const old = await ask(before)
  t.ok(old.total > 0 && old.total <= first.length)
  t.notOk(old.read)

  await index.add(randomArticles(random, 40))
  t.same(await ask(before), old, 'the state decides which articles are seen')
  const all = await ask()
  t.ok(all.read && all.total > old.total)
  t.same(await ask(await readState()), { total: all.total, read: false })

  await makeSegments(index.pool, { flushed: 16n, merged: 256n })
  await ask()
  t.same(await ask(before), old, 'the same articles lie in other segments by now')
})
