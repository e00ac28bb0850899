import t from 'tap'
import { createRateLimit } from './run.ts'

async function timed(work: () => Promise<void>): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}

t.test('articles take as long as the rate says, known ones no time', async t => {
  const limit = createRateLimit(400, new AbortController().signal)
  const ms = await timed(async () => {
    for (const articles of [16, 0, 16, 8]) await limit(articles)
  })
  t.ok(ms >= 95, `${ms} ms`)
  const known = createRateLimit(1, new AbortController().signal)
  t.ok((await timed(() => known(0))) < 900)
  t.ok((await timed(() => createRateLimit(null, new AbortController().signal)(1e9))) < 10_000)
})

t.test('an interruption ends the wait', async t => {
  const stopping = new AbortController()
  const limit = createRateLimit(1, stopping.signal)
  stopping.abort()
  await limit(100_000)
  t.pass('a day later otherwise')
})
