import t from 'tap'
import { createTurns } from './turns.ts'

const waiting = (...keys: string[]) => keys.map(key => ({ key }))

t.test('a key that used less comes first, whatever number of turns it wants', async t => {
  const turns = createTurns()
  const order: string[] = []
  const left = waiting(...Array<string>(6).fill('dear'), ...Array<string>(6).fill('cheap'))
  while (left.length > 0) {
    const one = turns.next(left)!
    order.push(one.key)
    left.splice(left.indexOf(one), 1)
    turns.charge(one.key, one.key === 'dear' ? 100 : 10)
  }
  t.same(order.slice(0, 7), ['dear', ...Array<string>(6).fill('cheap')])
})

t.test('a key that was away has saved nothing', async t => {
  const turns = createTurns()
  for (let n = 0; n < 50; n++) {
    turns.next(waiting('a'))
    turns.charge('a', 10)
  }
  const order: (string | undefined)[] = []
  for (let n = 0; n < 6; n++) {
    const one = turns.next(waiting('a', 'b'))
    order.push(one?.key)
    turns.charge(one?.key ?? '', 10)
  }
  t.ok(order.filter(key => key === 'a').length >= 2, order.join(' '))
  t.equal(turns.next([]), undefined)
})
