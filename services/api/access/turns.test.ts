import t from 'tap'
import { createTurns } from './turns.ts'

const STAYS = new AbortController().signal
const FREE = { charge: () => 0 }

/** Works until the event loop was held for long enough, again and again. Notes each turn. */
async function work(pace: ReturnType<ReturnType<typeof createTurns>['paceOf']>, note: () => void) {
  for (;;) {
    if (!pace.isDue()) continue
    note()
    await pace.rest()
  }
}

t.test('each key has its turn, however many searches another key has open', async t => {
  const turns = createTurns(FREE)
  const order: string[] = []
  const ends = new AbortController()
  const open = (key: string) =>
    work(turns.paceOf(key, ends.signal), () => {
      if (order.push(key) === 400) ends.abort(new Error('enough'))
    }).catch(() => {})
  await Promise.all([...Array.from({ length: 20 }, () => open('many')), open('one')])
  const after = order.slice(order.indexOf('one'))
  const own = after.filter(key => key === 'one').length
  t.ok(own > after.length * 0.45, `${own} of ${after.length} turns`)
})

t.test('the event loop looks at the network after each turn', async t => {
  const turns = createTurns(FREE)
  const ends = new AbortController()
  let between = 0
  let most = 0
  const look = () => {
    most = Math.max(most, between)
    between = 0
    if (!ends.signal.aborted) setTimeout(look, 0)
  }
  setTimeout(look, 0)
  let all = 0
  await Promise.all(
    Array.from({ length: 20 }, () =>
      work(turns.paceOf('key', ends.signal), () => {
        between++
        if (++all === 300) ends.abort(new Error('enough'))
      }).catch(() => {}),
    ),
  )
  // All twenty work once before the first of them rests.
  t.ok(most <= 21, `${most} turns without a look`)
  t.ok(all >= 300)
})

t.test('short searches that come together make room for others, too', async t => {
  const turns = createTurns(FREE)
  let looks = 0
  const ends = new AbortController()
  const look = () => {
    looks++
    if (!ends.signal.aborted) setImmediate(look)
  }
  setImmediate(look)
  for (let at = 0; at < 40; at++) {
    await turns.begin('key')
    const until = performance.now() + 0.5
    while (performance.now() < until);
  }
  ends.abort()
  t.ok(looks >= 8, `${looks} looks at the network`)
})

t.test('a search ends at its next rest when its client has left', async t => {
  const leaves = new AbortController()
  const pace = createTurns(FREE).paceOf('key', leaves.signal)
  t.notOk(pace.isDue())
  leaves.abort(new Error('left'))
  t.ok(pace.isDue(), 'at once')
  await t.rejects(pace.rest(), /left/)
  await t.resolves(createTurns(FREE).paceOf('key', STAYS).rest())
})

t.test(
  'a search rests as long as the share of its key says, and ends there when it is left',
  async t => {
    const charged: number[] = []
    const shares = {
      charge(key: string, ms: number) {
        t.equal(key, 'key')
        charged.push(ms)
        return charged.length > 1 ? 60_000 : 30
      },
    }
    const leaves = new AbortController()
    const pace = createTurns(shares).paceOf('key', leaves.signal)
    while (!pace.isDue());
    const start = performance.now()
    await pace.rest()
    t.ok(performance.now() - start >= 29)
    t.ok(charged[0]! >= 1 && charged[0]! <= 10, `${charged[0]}`)
    const resting = pace.rest()
    leaves.abort(new Error('left'))
    await t.rejects(resting, /left/)
  },
)
