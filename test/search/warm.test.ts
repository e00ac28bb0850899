import { setTimeout } from 'node:timers/promises'
import t from 'tap'
import { search } from '../../search/execute/search.ts'
import { keepWarm } from '../../search/execute/warm-up.ts'
import { randomArticles } from './archive.ts'
import { openArchiveIndex } from './archive-index.ts'
import { overheard } from './overheard.ts'
import { EVERYTHING } from './poller.ts'
import { createRandom } from './random.ts'

const READING = 'search-fresh'

t.test('new articles are read ahead, so that no search waits for them', { timeout: 60_000 }, async t => {
  const index = await openArchiveIndex()
  t.teardown(() => index.close())
  const { db, names } = overheard(index.pool)
  const failures: unknown[] = []
  const warm = keepWarm(db, error => failures.push(error))
  await index.add(randomArticles(createRandom(3), 40))
  while (names.filter(name => name === READING).length === 0) await setTimeout(20)
  // Whatever was indexed before a look was read by it, so after two whole looks nothing is left.
  const looks = () => names.filter(name => name === 'search-prelude').length
  for (const before = looks(); looks() < before + 3; ) await setTimeout(20)
  await warm.stop()
  names.length = 0
  const page = await search(db, EVERYTHING, null)
  t.ok(page.total > 30)
  t.equal(page.total, (await search(index.pool, EVERYTHING, null)).total)
  t.notOk(names.includes(READING), `asked: ${names.join(', ')}`)
  t.same(failures, [])
})
