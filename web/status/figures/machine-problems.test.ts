import t from 'tap'
import type { Machines, PostgresServers } from '../../../shared/status/figures.ts'
import { isOneMachine } from '../machines/one-machine.ts'
import { problemsOfMachines } from './machine-problems.ts'

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
const texts = (postgres: Partial<PostgresServers>, others: Partial<Machines> = {}) =>
  problemsOfMachines({ ...FLEET, postgres: { ...ALONE, ...postgres }, ...others }).map(({ text }) => text)

t.test('one machine, and a fleet that is well, have no problems', async t => {
  for (const machines of [null, ONE, FLEET]) t.same(problemsOfMachines(machines), [])
})

t.test('each server that needs somebody is named', async t => {
  t.same(texts({ standbys: [{ ...STANDBY, lagSeconds: 90 }] }), ['The standby 10.0.0.12 is 2 min behind.'])
  t.same(texts({ standbys: [{ ...STANDBY, lagBytes: 3e9, lagSeconds: null }] }), [
    'The standby 10.0.0.12 is 3 GB behind.',
  ])
  t.same(texts({ slots: [{ ...SLOT, heldBytes: 6e9 }] }), ['Postgres keeps 6 GB of log for slot b.'])
  t.same(texts({ slots: [{ ...SLOT, lost: true }] }), ['The standby of slot b has to be made anew.'])
  t.same(texts({ archive: { ...ARCHIVE, failing: true } }), ['Postgres cannot archive its log.'])
  t.same(texts({ role: 'standby' }), ['The database is a standby: nothing can be written.'])
  const shards = [{ shard: 0, copies: [{ node: 'a', state: 'Dead' }] }]
  t.same(texts({}, { vectors: { nodes: ['a', 'b'], unreachable: ['b'], shards } }), [
    'Qdrant does not reach b.',
    '1 copy of vectors cannot answer.',
  ])
  const replicas = [{ host: 'r:6379', online: false, lagBytes: 0 }]
  t.same(texts({}, { redis: { host: 'm', role: 'master', replicas } }), ['1 replica of Redis cannot follow.'])
  const archiveIndex = {
    indices: 2,
    articles: 9_000_000,
    backlog: 600_000,
    health: { nodes: 3, active: 4, unassigned: 0 },
  }
  t.same(texts({}, { archiveIndex }), ['600,000 articles are due for the archive index.'])
  const ready = { ...archiveIndex, backlog: 400_000 }
  t.same(texts({}, { archiveIndex: ready }), [])
  t.same(texts({}, { archiveIndex: { ...ready, health: { nodes: 2, active: 2, unassigned: 2 } } }), [
    'OpenSearch misses 2 copies of shards of the archive index.',
  ])
  t.same(texts({}, { archiveIndex: { ...ready, health: null } }), ['OpenSearch does not say how the archive index is.'])
})

t.test('one machine is told from several by any copy elsewhere', async t => {
  t.ok(isOneMachine(ONE))
  t.ok(isOneMachine({ hosts: null, postgres: null, vectors: null, redis: null, archiveIndex: null }))
  for (const part of ['postgres', 'vectors'] as const) t.notOk(isOneMachine({ ...ONE, [part]: FLEET[part] }))
  t.notOk(isOneMachine({ ...ONE, archiveIndex: { indices: 1, articles: 9, backlog: 0, health: null } }))
  t.notOk(isOneMachine({ ...ONE, hosts: [...(ONE.hosts ?? []), ...(ONE.hosts ?? [])] }))
})
