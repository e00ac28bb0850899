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
