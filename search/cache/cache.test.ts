import t from 'tap'
import { createMemory, type Kept } from './cache.ts'

/** A memory whose generations can be looked at; the last two are the ones that are left. */
function lookedInto(limit: number) {
  const tables: Map<number, Kept<string>>[] = []
  const memory = createMemory<number, string>(limit, () => {
    const table = new Map<number, Kept<string>>()
    tables.push(table)
    return table
  })
  return { memory, keys: () => tables.slice(-2).flatMap(table => [...table.keys()]) }
}

t.test('what is asked for stays, the rest is forgotten in time, and no more is kept than has room', async t => {
  const { memory, keys } = lookedInto(100 * 1_200)
  memory.set(0, 'asked for', 1_000)
  for (let key = 1; key <= 1_000; key++) {
    memory.set(key, `value ${key}`, 1_000)
    const kept = keys().length
    if (kept > 100 || (key >= 100 && kept < 50)) t.fail(`${kept} are kept after ${key}`)
    if (key % 20 === 0) t.equal(memory.get(0), 'asked for')
  }
  t.equal(memory.get(1_000), 'value 1000')
  t.equal(memory.get(1), undefined)
})

t.test('a value that is set again takes its room once', async t => {
  const { memory, keys } = lookedInto(100 * 1_200)
  memory.set(1, 'one', 1_000)
  for (let time = 0; time < 1_000; time++) memory.set(2, `two ${time}`, 1_000)
  t.equal(memory.get(2), 'two 999')
  t.same(keys().sort(), [1, 2])
  t.equal(memory.get(1), 'one')
})

t.test('a value larger than all the room is there until the next ones come', async t => {
  const { memory } = lookedInto(1_000)
  memory.set(1, 'large', 5_000)
  t.equal(memory.get(1), 'large')
  memory.set(2, 'larger', 6_000)
  memory.set(3, 'largest', 7_000)
  t.equal(memory.get(1), undefined)
  t.equal(memory.get(3), 'largest')
})
