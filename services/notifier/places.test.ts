import t from 'tap'
import { createPlaces, type Place, type Waiting } from './places.ts'

const TAKEN = { kind: 'taken', wait: 0 } as const
const HUNG = { kind: 'unreachable', wait: 0 } as const

/** Messages of a key: `count` of them, to one host unless `hosts` says more. */
const messages = (key: string, count: number, options: { isNew?: boolean; hosts?: number } = {}) =>
  Array.from({ length: count }, (_, at): Waiting => {
    const host = `${key}-${at % (options.hosts ?? 1)}.example`
    return { id: `${key} ${at} ${options.isNew ?? true}`, key, host, isNew: options.isNew ?? true }
  })

/** Places with a clock of their own. */
function places() {
  const clock = { now: 0 }
  const own = createPlaces(() => clock.now)
  const keysOf = (chosen: { message: Waiting }[]) => chosen.map(({ message }) => message.key)
  /** Sends one message at once, so that its host is proven. */
  const prove = (key: string, hosts = 1) => {
    for (const one of messages(key, hosts, { hosts }))
      for (const { place } of own.choose([one])) place.end(TAKEN)
  }
  return { clock, own, keysOf, prove }
}

t.test('a host gets one message until it took one at once, then four', async t => {
  const { own, prove } = places()
  const [first, ...more] = own.choose(messages('a', 9))
  t.equal(more.length, 0)
  first?.place.end(TAKEN)
  prove('a')
  t.equal(own.choose(messages('a', 9)).length, 4)
})

t.test('keys take turns, however many messages they have', async t => {
  const { own, keysOf, prove } = places()
  for (const key of ['many', 'few']) prove(key)
  const chosen = own.choose([...messages('many', 40), ...messages('few', 2)])
  t.same(keysOf(chosen).slice(0, 4).sort(), ['few', 'few', 'many', 'many'])
})

t.test('new messages come before those that failed', async t => {
  const { own, prove } = places()
  prove('a')
  const chosen = own.choose([...messages('a', 4, { isNew: false }), ...messages('a', 2)])
  t.same(
    chosen.map(({ message }) => message.isNew),
    [true, true, false, false],
  )
})

t.test('what hangs moves to a slow lane, and leaves the places to others', async t => {
  const { clock, own, keysOf, prove } = places()
  prove('good')
  const bad = Array.from({ length: 20 }, (_, n) => messages(`bad ${n}`, 8, { hosts: 8 })).flat()
  const hanging: Place[] = own.choose(bad).map(({ place }) => place)
  t.equal(hanging.length, 16, 'they are not known to hang')
  t.same(own.choose(messages('good', 1)), [], 'no place is left')
  clock.now += 2_001
  t.same(keysOf(own.choose(messages('good', 1))), ['good'])
  for (const place of hanging) place.end(HUNG)
  const again = own.choose(bad.filter(({ key }) => key < 'bad 2'))
  t.ok(again.length <= 8 + 15, `${again.length}`)
})

t.test('a key whose receivers hang gets one place for those that it names anew', async t => {
  const { clock, own } = places()
  const hosts = messages('bad', 100, { hosts: 100 })
  t.equal(own.choose(hosts).length, 4)
  clock.now += 2_001
  t.equal(own.choose(hosts.slice(4)).length, 0, 'the slow lane has one place for a key')
})

t.test('a host that fails three times rests, for the key that named it alone', async t => {
  const { clock, own } = places()
  const [one] = messages('a', 1)
  const other: Waiting = { ...one!, key: 'b', id: 'b' }
  for (let n = 0; n < 3; n++) for (const { place } of own.choose([one!])) place.end(HUNG)
  t.equal(own.choose([one!]).length, 0)
  t.equal(own.choose([other]).length, 1)
  clock.now += 5_001
  t.equal(own.choose([one!, { ...one!, id: 'another' }]).length, 1, 'one message tries')
})

t.test('a receiver that asks for a pause gets it', async t => {
  const { clock, own } = places()
  for (let n = 0; n < 3; n++)
    for (const { place } of own.choose(messages('a', 1)))
      place.end({ kind: 'refused', wait: 60_000 })
  clock.now += 59_000
  t.equal(own.choose(messages('a', 1)).length, 0)
  clock.now += 1_001
  t.equal(own.choose(messages('a', 1)).length, 1)
})

const REFUSED = { kind: 'refused', wait: 0 } as const

t.test('the slow lane has eight places, and one of a key', async t => {
  const { clock, own, keysOf } = places()
  const slow = [
    ...messages('a', 2, { hosts: 2 }),
    ...Array.from('bcdefghij', key => messages(key, 1)).flat(),
  ]
  for (const one of slow) for (const { place } of own.choose([one])) place.end(HUNG)
  const chosen = own.choose(slow)
  t.equal(new Set(keysOf(chosen)).size, 8)
  t.equal(chosen.length, 8)
  t.ok(own.hasRoom)
  const quick = Array.from('klmnopqrstuvwxyzA', key => messages(key, 1)).flat()
  t.equal(own.choose(quick).length, 16, 'and the fast lane sixteen')
  t.notOk(own.hasRoom)
  chosen[0]?.place.end(null)
  t.ok(own.hasRoom)
  own.choose(slow)
  t.notOk(own.hasRoom)
  clock.now = 2_001
  t.ok(own.hasRoom, 'what hangs leaves the fast lane')
})

t.test('a key has eight places on both lanes', async t => {
  const { clock, own, prove } = places()
  prove('a', 20)
  const all = messages('a', 20, { hosts: 20 })
  t.equal(own.choose(all.slice(0, 4)).length, 4)
  clock.now = 2_000
  t.equal(own.choose(all.slice(4)).length, 0, 'for two seconds none is slow')
  clock.now = 2_001
  t.ok(own.hasRoom)
  t.equal(own.choose(all.slice(4, 7)).length, 3)
  clock.now = 4_002
  t.equal(own.choose(all.slice(7)).length, 1)
})

t.test(
  'a host is proven by a message that it took within two seconds, until one fails',
  async t => {
    for (const [ms, outcome, places_] of [
      [2_000, TAKEN, 4],
      [2_001, TAKEN, 1],
      [0, REFUSED, 1],
      [0, HUNG, 1],
      [2_001, REFUSED, 1],
      [0, null, 4],
    ] as const) {
      const { clock, own, prove } = places()
      prove('a')
      for (const { place } of own.choose(messages('a', 1))) {
        clock.now += ms
        place.end(outcome)
      }
      t.equal(own.choose(messages('a', 9)).length, places_, `${outcome?.kind} after ${ms} ms`)
      const isSlow = ms > 2_000 || outcome === HUNG
      const anew = own.choose(messages('a', 9, { hosts: 9 }).slice(1)).length
      t.equal(anew, isSlow || places_ === 4 ? 0 : 3, 'its lane')
    }
  },
)

t.test('a host that fails rests twice as long each time, for ten minutes at most', async t => {
  const { clock, own } = places()
  const rests: number[] = []
  for (let n = 0; n < 14; n++) {
    for (const { place } of own.choose(messages('a', 1))) place.end(REFUSED)
    const from = clock.now
    while (
      clock.now < from + 601_000 &&
      own.choose([{ ...messages('a', 1)[0]!, key: 'a' }]).map(({ place }) => place.end(null))
        .length === 0
    )
      clock.now += 1_000
    rests.push((clock.now - from) / 1_000)
  }
  t.same(rests, [0, 0, 5, 10, 20, 40, 80, 160, 320, 600, 600, 600, 600, 600])
  for (const { place } of own.choose(messages('a', 1))) place.end(TAKEN)
  t.equal(own.choose(messages('a', 9)).length, 4, 'one that is taken ends all of that')
})

t.test('a host that refused is on no lane while another one of its key hangs', async t => {
  const { clock, own } = places()
  const [refusing, hanging] = messages('a', 2, { hosts: 2 })
  for (const { place } of own.choose([refusing!])) place.end(REFUSED)
  own.choose([hanging!])
  clock.now = 2_001
  t.same(own.choose([refusing!]), [])
})

t.test('ten thousand hosts are remembered, and those that are being sent to', async t => {
  const { own, prove } = places()
  for (const key of ['sending', 'idle']) prove(key)
  own.choose(messages('sending', 1))
  const proven = () => {
    const chosen = own.choose(messages('idle', 2))
    for (const { place } of chosen) place.end(null)
    return chosen.length
  }
  for (let n = 2; n < 10_000; n++)
    own.choose([{ id: '', key: 'b', host: `${n}`, isNew: true }])[0]?.place.end(TAKEN)
  t.equal(proven(), 2)
  prove('another')
  t.equal(proven(), 1, 'forgotten')
  t.equal(own.choose(messages('sending', 9)).length, 3)
})
