import t from 'tap'
import { createCache, ENTRY_BYTES } from './cache.ts'

const VALUE = 1_000
const ROOM = 100 * (VALUE + ENTRY_BYTES)

t.test('the least recently used values are dropped, and the limit holds', async t => {
  const cache = createCache<number, string>(ROOM)
  cache.set(0, 'read again and again', VALUE)
  for (let key = 1; key <= 1_000; key++) {
    cache.set(key, `value ${key}`, VALUE)
    if (cache.stats().used > ROOM) t.fail(`${cache.stats().used} bytes after ${key}`)
    if (key % 20 === 0) t.equal(cache.get(0), 'read again and again')
  }
  t.equal(cache.get(1_000), 'value 1000')
  t.equal(cache.get(1), undefined)
  t.same(cache.stats(), { limit: ROOM, used: ROOM })
})

t.test('a value that is set again counts once', async t => {
  const cache = createCache<number, string>(ROOM)
  cache.set(1, 'one', VALUE)
  for (let time = 0; time < 1_000; time++) cache.set(2, `two ${time}`, VALUE)
  t.equal(cache.get(2), 'two 999')
  t.equal(cache.get(1), 'one')
  t.equal(cache.stats().used, 2 * (VALUE + ENTRY_BYTES))
})

t.test('a value larger than the limit is not kept and drops no other', async t => {
  const cache = createCache<number, string>(ROOM)
  cache.set(1, 'small', VALUE)
  cache.set(2, 'too large', ROOM)
  t.equal(cache.get(2), undefined)
  t.equal(cache.get(1), 'small')
})
