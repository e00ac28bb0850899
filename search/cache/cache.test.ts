import t from 'tap'
import { createCache, type Entry } from './cache.ts'

/** A cache whose generations can be looked at; the last two are the ones that are left. */
function lookedInto(limit: number) {
  const tables: Map<number, Entry<string>>[] = []
  const cache = createCache<number, string>(limit, () => {
    const table = new Map<number, Entry<string>>()
    tables.push(table)
    return table
  })
  return { cache, keys: () => tables.slice(-2).flatMap(table => [...table.keys()]) }
}

t.test('what is asked for stays, the rest is forgotten in time, and no more is kept than has room', async t => {
  const { cache, keys } = lookedInto(100 * 1_200)
  cache.set(0, 'asked for', 1_000)
  for (let key = 1; key <= 1_000; key++) {
    cache.set(key, `value ${key}`, 1_000)
    const kept = keys().length
    if (kept > 100 || (key >= 100 && kept < 50)) t.fail(`${kept} are kept after ${key}`)
    if (key % 20 === 0) t.equal(cache.get(0), 'asked for')
  }
  t.equal(cache.get(1_000), 'value 1000')
  t.equal(cache.get(1), undefined)
})

t.test('a value that is set again takes its room once', async t => {
  const { cache, keys } = lookedInto(100 * 1_200)
  cache.set(1, 'one', 1_000)
  for (let time = 0; time < 1_000; time++) cache.set(2, `two ${time}`, 1_000)
  t.equal(cache.get(2), 'two 999')
  t.same(keys().sort(), [1, 2])
  t.equal(cache.get(1), 'one')
})

t.test('a value larger than all the room is there until the next ones come', async t => {
  const { cache } = lookedInto(1_000)
  cache.set(1, 'large', 5_000)
  t.equal(cache.get(1), 'large')
  cache.set(2, 'larger', 6_000)
  cache.set(3, 'largest', 7_000)
  t.equal(cache.get(1), undefined)
  t.equal(cache.get(3), 'largest')
})
