import { setTimeout } from 'node:timers/promises'
import t from 'tap'
import { openIndex } from '../../search/index.ts'
import { randomArticles } from './archive.ts'
import { openArchiveIndex } from './archive-index.ts'
import { overheard } from './overheard.ts'
import { EVERYTHING } from './poller.ts'
import { createRandom } from './random.ts'

const READING = 'search-new'

t.test('new articles are read ahead, so that no search waits for them', { timeout: 60_000 }, async t => {
  const index = await openArchiveIndex(t)
  const { db, names } = overheard(index.pool)
  const failures: unknown[] = []
  const warm = openIndex(db)
  void warm.warm(error => failures.push(error))
  await index.add(randomArticles(createRandom(3), 40))
  while (names.filter(name => name === READING).length === 0) await setTimeout(20)
  // Whatever was indexed before a look was read by it, so after two whole looks nothing is left.
  const looks = () => names.filter(name => name === 'search-snapshot').length
  for (const before = looks(); looks() < before + 3; ) await setTimeout(20)
  await warm.close()
  names.length = 0
  const page = await warm.search(EVERYTHING)
  t.ok(page.total > 30)
  t.equal(page.total, (await index.search.search(EVERYTHING)).total)
  t.notOk(names.includes(READING), `asked: ${names.join(', ')}`)
  t.same(failures, [])
})
