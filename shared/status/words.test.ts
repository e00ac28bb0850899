import t from 'tap'
import type { Machines, OutletHealth } from './figures.ts'
import { ago, isOneMachine, number, plural, serversInWords, span, troublesOf } from './words.ts'

const AT = '2026-03-01T12:00:00.000Z'
const outletOf = (more: Partial<OutletHealth<string>>): OutletHealth<string> => ({
  ...{ domain: 'a.example', name: 'A', country: 'NL', health: 'healthy', lastSuccess: AT, lastNew: AT, rhythm: null },
  ...{
    feeds: 1,
    failingFeeds: 0,
    failures: 0,
    error: null,
    blocks: [],
    rights: [],
    licence: null,
    today: { hosts: 0, pages: 0, bytes: 0 },
  },
  ...{ putOff: 0, late: 0, restsUntil: null, gaps: null, kept: null, origins: { shares: [], falls: [] }, days: [] },
  ...more,
})

t.test('the trouble of an outlet is told in its row', async t => {
  const gaps = { count: 2, from: '2026-02-28T12:00:00.000Z', to: '2026-03-01T09:00:00.000Z' }
  t.strictSame(troublesOf(outletOf({ gaps }), Date.parse(AT)), ['a feed rolled on unseen 2×, last 3 h ago'])
  const falls = [{ field: 'date', source: 'json-ld', before: 0.9, now: 0.4 }]
  const worse = troublesOf(outletOf({ origins: { shares: [], falls } }), Date.parse(AT))
  t.strictSame(worse, ['worse sources of date: json-ld 90 % → 40 %'])
})

const ONE: Machines = {
  hosts: [{ host: '::1', crawler: 1, normaliser: 1, embedder: 1, api: 1 }],
  postgres: { host: '::1', role: 'primary', mayLook: true, standbys: [], slots: [], archive: null },
  vectors: { nodes: [], unreachable: [], shards: [] },
  redis: { host: '::1', role: 'master', replicas: [] },
  archiveIndex: null,
}
const SLOT = { name: 'b', active: true, heldBytes: 16_000_000, lost: false }
const FLEET: Machines = {
  ...ONE,
  postgres: { ...ONE.postgres!, slots: [SLOT] },
  vectors: { nodes: ['a', 'b'], unreachable: [], shards: [] },
}

t.test('one machine is told from several by any copy elsewhere', async t => {
  t.ok(isOneMachine(ONE))
  t.ok(isOneMachine({ hosts: null, postgres: null, vectors: null, redis: null, archiveIndex: null }))
  for (const part of ['postgres', 'vectors'] as const) t.notOk(isOneMachine({ ...ONE, [part]: FLEET[part] }))
  t.notOk(isOneMachine({ ...ONE, archiveIndex: { indices: 1, articles: 9, backlog: 0, health: null } }))
  t.notOk(isOneMachine({ ...ONE, hosts: [...(ONE.hosts ?? []), ...(ONE.hosts ?? [])] }))
})

t.test('servers are told line by line, what is missing too', async t => {
  const [postgres, qdrant, redis] = serversInWords(FLEET)
  const archived = { what: 'log is not archived', tone: 'none' } as const
  const slot = { what: 'slot b', more: 'in use, 16 MB of log kept' }
  t.strictSame(postgres?.lines, [
    { what: '::1', more: 'primary' },
    { what: 'no standby', tone: 'none' },
    slot,
    archived,
  ])
  t.strictSame(qdrant, { server: 'Qdrant', lines: [{ what: 'a, b', more: '2 nodes' }] })
  t.strictSame(redis?.lines[1], { what: 'no replica', tone: 'none' })
})

t.test('numbers are short from a million on', async t => {
  t.strictSame([0, 1_234, 999_999, 1_234_567, 12_345_678].map(number), ['0', '1,234', '999,999', '1.23 M', '12.3 M'])
  t.strictSame([plural(1, 'page'), plural(2, 'page')], ['1 page', '2 pages'])
})

t.test('a span has one unit', async t => {
  const spans = [0, 5.64, 40.4, 300, 12_600, 777_600, 94_608_000]
  t.strictSame(spans.map(span), ['0 s', '5.6 s', '40 s', '5 min', '3.5 h', '9 days', '1,095 days'])
})

t.test('a time ahead of the clock is now', async t => {
  t.equal(ago('2026-03-01T12:00:05.000Z', Date.parse('2026-03-01T12:00:00.000Z')), '0 s ago')
})
