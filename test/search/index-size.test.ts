import t from 'tap'
import { makeSegments, readIndexSize } from '../../search/indexer.ts'
import { randomArticles } from './archive.ts'
import { openArchiveIndex } from './archive-index.ts'
import { createRandom } from './random.ts'

t.test('operators are told how many segments are stored, and how many articles have none', async t => {
  const index = await openArchiveIndex(t)
  t.same(await readIndexSize(index.pool), { segments: 0, backlog: 0 })
  const { length } = await index.add(randomArticles(createRandom(5), 40))
  t.same(await readIndexSize(index.pool), { segments: 0, backlog: length })
  await makeSegments(index.pool, { flushed: 16n, merged: 256n })
  const segments = Math.floor(length / 16)
  t.same(await readIndexSize(index.pool), { segments, backlog: length - segments * 16 })
})
