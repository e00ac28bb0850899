import t from 'tap'
import type { Figures, Machines, OutletHealth, PostgresServers } from '../../shared/status/figures.ts'
import { isOneMachine, problemOfFailure, problemsOf, problemsOfMachines, troubleOf } from './problems.ts'

const AT = '2026-03-01T12:00:00.000Z'
const FINE: Figures = {
  at: AT,
  service: 'Perscope',
  flow: {
    articles: 10,
    embedded: 9,
    embeddings: { promised: 1, due: 0, failed: 0, oldest: 0 },
    pages: { waiting: 3, due: 1, stored: 1, failed: 0, oldest: 5 },
    index: { segments: 1, backlog: 2 },
    newest: '2026-03-01T11:59:00.000Z',
  },
  running: { processes: { crawler: 1, normaliser: 1, embedder: 1, api: 2 }, visits: 0, requests: 0, keys: 0 },
  machines: null,
  queues: {},
  outlets: [],
  quarantine: { counts: [], newest: [] },
  lag: [],
  missing: [],
  unread: [],
}
const texts = (changed: Partial<Figures>) => problemsOf({ ...FINE, ...changed }).map(({ text }) => text)

t.test('a fleet at work has no problems', async t => {
  t.strictSame(texts({}), [])
})

t.test('the worst problems come first', async t => {
  const processes = { crawler: 1, normaliser: 0, embedder: 1, api: 2 }
  t.strictSame(
    texts({
      flow: { ...FINE.flow!, newest: '2026-03-01T09:00:00.000Z' },
      running: { ...FINE.running!, processes },
      missing: ['qdrant', 'model'],
    }),
    [
      'No normaliser is connected to the database.',
      'Search by meaning is out of order: no qdrant, no model.',
      'No article has come in for 3 h.',
    ],
  )
})

t.test('work that waits too long is named with its age', async t => {
  const { flow } = FINE
  t.strictSame(
    texts({
      flow: { ...flow!, pages: { ...flow!.pages, oldest: 720 }, embeddings: { ...flow!.embeddings, oldest: 7_200 } },
    }),
    ['A page has waited for the normaliser for 12 min.', 'Articles have waited for the embedder for 2 h.'],
  )
})

t.test('feeds that rolled on unseen are named for six hours, and stay in the trouble of their outlet', async t => {
  const outlet = (hours: number): OutletHealth<string> => ({
    ...outletOf('a.example', false),
    gaps: {
      count: 2,
      from: '2026-02-28T12:00:00.000Z',
      to: new Date(Date.parse(AT) - hours * 3_600_000).toISOString(),
    },
  })
  t.strictSame(texts({ outlets: [outlet(3)] }), ['Feeds of 1 outlet rolled on unseen: articles may be missing.'])
  t.equal(troubleOf(outlet(3), Date.parse(AT)), 'a feed rolled on unseen 2×, last 3 h ago')
  t.strictSame(texts({ outlets: [outlet(7)] }), [])
})

const outletOf = (domain: string, fell: boolean): OutletHealth<string> => ({
  ...{ domain, name: domain, country: 'NL', health: 'healthy', lastSuccess: AT, lastNew: AT, rhythm: null },
  ...{ feeds: 1, failingFeeds: 0, failures: 0, error: null, blocks: [], today: { hosts: 0, pages: 0, bytes: 0 } },
  ...{ putOff: 0, late: 0, restsUntil: null, gaps: null, kept: null },
  origins: { shares: [], falls: fell ? [{ field: 'date', source: 'json-ld', before: 0.9, now: 0.4 }] : [] },
})

t.test('outlets whose articles are read from worse sources are named', async t => {
  const outlets = [outletOf('a.example', true), outletOf('b.example', false)]
  t.strictSame(texts({ outlets }), ['Articles are read from worse sources than before: a.example.'])
  t.equal(troubleOf(outlets[0]!, Date.parse(AT)), 'worse sources of date: json-ld 90 % → 40 %')
  const many = ['c', 'd', 'e', 'f', 'g'].map(name => outletOf(`${name}.example`, true))
  t.match(texts({ outlets: many })[0], /: c\.example, d\.example, e\.example, 2 other outlets\.$/)
})

t.test('parts that could not be read are named, but not where the database is away', async t => {
  t.strictSame(texts({ flow: null, unread: ['flow'] }), ['Could not be read in time: flow.'])
  t.strictSame(texts({ flow: null, unread: ['flow'], missing: ['postgres'] }), ['The API does not reach its database.'])
})

t.test('what an outlet refuses is no problem of ours', async t => {
  const counts = [
    { kind: 'page', reason: 'server error', n: 7, ours: false },
    { kind: 'page', reason: 'timeout', n: 2, ours: true },
  ] as const
  t.strictSame(texts({ quarantine: { counts: [counts[0]], newest: [] } }), [])
  t.strictSame(texts({ quarantine: { counts: [...counts], newest: [] } }), [
    '2 pages or articles in quarantine failed on our side.',
  ])
})

t.test('a failed request is said in words: those of the API where it has some', async t => {
  const failure = { kind: 'failure', errors: {}, retryAfter: null, requestId: '' } as const
  t.equal(problemOfFailure({ ...failure, code: 'offline', message: '' }).text, 'The API does not answer.')
  t.equal(problemOfFailure({ ...failure, code: 'other', message: 'Wait.' }).text, 'Wait.')
  t.match(problemOfFailure({ ...failure, code: 'unreadable', message: '' }).text, 'cannot be read')
})

const STANDBY = { name: 'b', host: '10.0.0.12', state: 'streaming', sync: true, lagBytes: 900, lagSeconds: 0.2 }
const SLOT = { name: 'b', active: true, heldBytes: 16_000_000, lost: false }
const ALONE: PostgresServers = { host: '::1', role: 'primary', mayLook: true, standbys: [], slots: [], archive: null }
const ARCHIVE = { failing: false, file: null, failedAt: null, archivedAt: null }
const ONE: Machines = {
  hosts: [{ host: '::1', crawler: 1, normaliser: 1, embedder: 1, api: 1 }],
  postgres: ALONE,
  vectors: { nodes: [], unreachable: [], shards: [] },
  redis: { host: '::1', role: 'master', replicas: [] },
  archiveIndex: null,
}
const FLEET: Machines = {
  ...ONE,
  postgres: { ...ALONE, standbys: [STANDBY], slots: [SLOT], archive: ARCHIVE },
  vectors: { nodes: ['a', 'b'], unreachable: [], shards: [{ shard: 0, copies: [{ node: 'a', state: 'Active' }] }] },
}
const textsOfMachines = (postgres: Partial<PostgresServers>, others: Partial<Machines> = {}) =>
  problemsOfMachines({ ...FLEET, postgres: { ...ALONE, ...postgres }, ...others }).map(({ text }) => text)

t.test('one machine, and a fleet that is well, have no problems', async t => {
  for (const machines of [null, ONE, FLEET]) t.same(problemsOfMachines(machines), [])
})

t.test('each server that needs somebody is named', async t => {
  t.same(textsOfMachines({ standbys: [{ ...STANDBY, lagSeconds: 90 }] }), ['The standby 10.0.0.12 is 2 min behind.'])
  t.same(textsOfMachines({ standbys: [{ ...STANDBY, lagBytes: 3e9, lagSeconds: null }] }), [
    'The standby 10.0.0.12 is 3 GB behind.',
  ])
  t.same(textsOfMachines({ slots: [{ ...SLOT, heldBytes: 6e9 }] }), ['Postgres keeps 6 GB of log for slot b.'])
  t.same(textsOfMachines({ slots: [{ ...SLOT, lost: true }] }), ['The standby of slot b has to be made anew.'])
  t.same(textsOfMachines({ archive: { ...ARCHIVE, failing: true } }), ['Postgres cannot archive its log.'])
  t.same(textsOfMachines({ role: 'standby' }), ['The database is a standby: nothing can be written.'])
  const shards = [{ shard: 0, copies: [{ node: 'a', state: 'Dead' }] }]
  t.same(textsOfMachines({}, { vectors: { nodes: ['a', 'b'], unreachable: ['b'], shards } }), [
    'Qdrant does not reach b.',
    '1 copy of vectors cannot answer.',
  ])
  const replicas = [{ host: 'r:6379', online: false, lagBytes: 0 }]
  t.same(textsOfMachines({}, { redis: { host: 'm', role: 'master', replicas } }), ['1 replica of Redis cannot follow.'])
  const archiveIndex = {
    indices: 2,
    articles: 9_000_000,
    backlog: 600_000,
    health: { nodes: 3, active: 4, unassigned: 0 },
  }
  t.same(textsOfMachines({}, { archiveIndex }), ['600,000 articles are due for the archive index.'])
  const ready = { ...archiveIndex, backlog: 400_000 }
  t.same(textsOfMachines({}, { archiveIndex: ready }), [])
  t.same(textsOfMachines({}, { archiveIndex: { ...ready, health: { nodes: 2, active: 2, unassigned: 2 } } }), [
    'OpenSearch misses 2 copies of shards of the archive index.',
  ])
  t.same(textsOfMachines({}, { archiveIndex: { ...ready, health: null } }), [
    'OpenSearch does not say how the archive index is.',
  ])
})

t.test('one machine is told from several by any copy elsewhere', async t => {
  t.ok(isOneMachine(ONE))
  t.ok(isOneMachine({ hosts: null, postgres: null, vectors: null, redis: null, archiveIndex: null }))
  for (const part of ['postgres', 'vectors'] as const) t.notOk(isOneMachine({ ...ONE, [part]: FLEET[part] }))
  t.notOk(isOneMachine({ ...ONE, archiveIndex: { indices: 1, articles: 9, backlog: 0, health: null } }))
  t.notOk(isOneMachine({ ...ONE, hosts: [...(ONE.hosts ?? []), ...(ONE.hosts ?? [])] }))
})
