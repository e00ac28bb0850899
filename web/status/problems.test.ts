import t from 'tap'
import type { Machines, OutletHealth } from '../../shared/status/figures.ts'
import { isOneMachine, problemOfFailure, troubleOf } from './problems.ts'

const AT = '2026-03-01T12:00:00.000Z'
const outletOf = (more: Partial<OutletHealth<string>>): OutletHealth<string> => ({
  ...{ domain: 'a.example', name: 'A', country: 'NL', health: 'healthy', lastSuccess: AT, lastNew: AT, rhythm: null },
  ...{ feeds: 1, failingFeeds: 0, failures: 0, error: null, blocks: [], today: { hosts: 0, pages: 0, bytes: 0 } },
  ...{ putOff: 0, late: 0, restsUntil: null, gaps: null, kept: null, origins: { shares: [], falls: [] } },
  ...more,
})

t.test('the trouble of an outlet is told in its row', async t => {
  const gaps = { count: 2, from: '2026-02-28T12:00:00.000Z', to: '2026-03-01T09:00:00.000Z' }
  t.equal(troubleOf(outletOf({ gaps }), Date.parse(AT)), 'a feed rolled on unseen 2×, last 3 h ago')
  const falls = [{ field: 'date', source: 'json-ld', before: 0.9, now: 0.4 }]
  const worse = troubleOf(outletOf({ origins: { shares: [], falls } }), Date.parse(AT))
  t.equal(worse, 'worse sources of date: json-ld 90 % → 40 %')
})

t.test('a failed request is said in words: those of the API where it has some', async t => {
  const failure = { kind: 'failure', errors: {}, retryAfter: null, requestId: '' } as const
  t.equal(problemOfFailure({ ...failure, code: 'offline', message: '' }).text, 'The API does not answer.')
  t.equal(problemOfFailure({ ...failure, code: 'other', message: 'Wait.' }).text, 'Wait.')
  t.match(problemOfFailure({ ...failure, code: 'unreadable', message: '' }).text, 'cannot be read')
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
