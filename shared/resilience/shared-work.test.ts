import t from 'tap'
import { createSharedWork } from './shared-work.ts'

t.test('work that begins when the last one is just done is not forgotten with it', async t => {
  const { signal } = new AbortController()
  const shared = createSharedWork<string>()
  const done = Promise.withResolvers<string>()
  const next = Promise.withResolvers<string>()
  const first = shared.run('name', signal, () => done.promise)
  const second = done.promise.then(() => shared.run('name', signal, () => next.promise))
  done.resolve('first')
  t.equal(await first, 'first')
  t.ok(shared.has('name'), 'others may join it')
  next.resolve('second')
  t.equal(await second, 'second')
  t.notOk(shared.has('name'))
})
