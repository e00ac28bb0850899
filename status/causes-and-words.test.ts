import { mkdirSync, readFileSync, renameSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { readConfig } from '../shared/config/config.ts'
import type { Machines, OutletHealth, PostgresServers, Surroundings } from '../shared/figures.ts'
import {
  backIsLate,
  embeddingsAreLate,
  looksAreLate,
  pagesAreLate,
  removalsAreLate,
} from '../shared/figures.ts'
import { createRestarts, createStalls } from './cause-watch.ts'
import { causesOf, type Facts, FIRST } from './causes.ts'
import { ageOfBackup, readSurroundings } from './surroundings.ts'
import { ago, isOneMachine, number, plural, serversInWords, span, troublesOf } from './words.ts'

const AT = '2026-03-01T12:00:00.000Z'
const AROUND: Surroundings = {
  disk: { folder: '/data', free: 5e10, total: 1e11, daysLeft: null },
  memory: { free: 4e9, total: 8e9 },
  clockAhead: 0.1,
  names: { asked: 5, failed: 1, example: 'gone.example', lie: null },
  schema: { database: 28, checkout: 28, lacks: [] },
  databaseFull: false,
  index: [],
  rules: [],
  certificates: [{ of: 'QDRANT_URL', daysLeft: 60 }],
}
const FINE = {
  at: AT,
  flow: {
    articles: 10,
    embedded: 9,
    embeddings: { promised: 1, due: 0, failed: 0, resting: 0, oldest: 0 },
    feeds: { resting: 0 },
    removals: { waiting: 0, oldest: 0 },
    looks: { asked: 0, waiting: 0, oldest: 0 },
    back: { running: 0, oldest: 0 },
    pages: { waiting: 3, due: 1, stored: 1, failed: 0, resting: 0, oldest: 5 },
    index: { segments: 1, backlog: 2 },
    newest: '2026-03-01T11:59:00.000Z',
  },
  running: {
    processes: { crawler: 1, normaliser: 1, embedder: 1, api: 2 },
    older: { crawler: 0, normaliser: 0, embedder: 0, api: 0 },
    visits: 0,
    requests: 0,
    keys: 0,
  },
  machines: null,
  queues: {},
  outlets: [],
  quarantine: { counts: [], newest: [] },
  around: AROUND,
  missing: [],
  unread: [],
} satisfies Facts

const texts = (changed: Partial<Facts>) => causesOf({ ...FINE, ...changed }).map(({ text }) => text)
const around = (changed: Partial<Surroundings>) => texts({ around: { ...AROUND, ...changed } })

const outletOf = (
  domain: string,
  more: Partial<OutletHealth<string>> = {},
): OutletHealth<string> => ({
  domain,
  name: domain,
  country: 'NL',
  health: 'healthy',
  lastSuccess: AT,
  lastNew: AT,
  rhythm: null,
  feeds: 1,
  failingFeeds: 0,
  failures: 0,
  error: null,
  blocks: [],
  rights: [],
  licence: null,
  today: { hosts: 0, pages: 0, bytes: 0 },
  putOff: 0,
  late: 0,
  unread: null,
  restsUntil: null,
  gaps: null,
  kept: null,
  origins: { shares: [], falls: [] },
  days: [],
  ...more,
})
const failing = (domain: string, error: string) => outletOf(domain, { health: 'failing', error })
const gaps = (hours: number) => ({
  count: 2,
  from: AT,
  to: new Date(Date.parse(AT) - hours * 3_600_000).toISOString(),
})
const fall = { shares: [], falls: [{ field: 'date', source: 'json-ld', before: 0.9, now: 0.4 }] }

t.test('a fleet at work has no causes', async t => {
  t.strictSame(texts({}), [])
})

// test/operators/doctor.slow.test.ts and test/machines test the other causes.
t.test('each cause says what is wrong, and the first thing to do', async t => {
  const { flow } = FINE
  const kept = { pages: 4, of: 10, reason: 'challenge' }
  const old = (part: 'pages' | 'embeddings' | 'removals' | 'looks' | 'back', oldest: number) => ({
    flow: { ...flow, [part]: { ...flow[part], oldest } },
  })
  const down = (error: string) => ({ outlets: [failing('a.example', error)] })
  const cases: [Partial<Facts>, string | RegExp][] = [
    [
      { alerts: { inForce: 0, resting: 1, waiting: 0 } },
      /^1 alert rests after failures: "npm run alerts -- list" says why/,
    ],
    [
      { alerts: { inForce: 0, resting: 0, waiting: 600 } },
      /waited for the notifier for 10 min: start a notifier/,
    ],
    [
      {
        alerts: { inForce: 2, resting: 0, waiting: 0 },
        running: { ...FINE.running, processes: { ...FINE.running.processes, notifier: 0 } },
      },
      /^No notifier is connected to the database, so nobody tells 2 alerts: start a notifier/,
    ],
    [{ missing: ['redis'] }, /^The Redis of the queues does not answer/],
    [
      { flow: { ...flow, newest: '2026-03-01T09:00:00.000Z' } },
      /^No article has come in for 3 h: "npm run outlets/,
    ],
    [old('pages', 720), /waited for the normaliser for 12 min: start another/],
    [old('embeddings', 7_200), /waited for the embedder for 2 h: start another embedder/],
    [old('removals', 7_200), /to be cleared, the oldest for 2 h: run "npm run articles -- clear"/],
    [
      old('looks', 7_200),
      /^0 answers wait to be judged .*, the oldest for 2 h: start a normaliser/,
    ],
    [old('back', 172_800), /^A back-fill has settled no address for 2 days: "npm run outlets/],
    [down('404 Not Found'), /^All feeds of a\.example are gone: "npm run outlets -- check"/],
    [
      down('the name does not resolve (EAI_AGAIN)'),
      /^No name of an outlet resolves \(a\.example: .*EAI_AGAIN\)\): check the network/,
    ],
    [
      down('the connection failed (ENETUNREACH)'),
      /^No outlet can be reached .*: check the network/,
    ],
    [
      { outlets: [failing('a.example', 'the name does not resolve'), outletOf('b.example')] },
      /^1 outlet cannot be read \(a\.example: the name does not resolve\)/,
    ],
    [
      { outlets: [], flow: { ...flow, articles: 0 } },
      /^The catalogue is empty, .*: "npm run outlets -- add FILE"/,
    ],
    [{ outlets: [outletOf('a.example', { kept })] }, /^a\.example: 4 of 10 pages .*ask the outlet/],
    [{ outlets: [outletOf('a.example', { error: 'held: set it' })] }, '1 outlet: held: set it'],
    [
      { outlets: [outletOf('a.example', { gaps: gaps(3) })] },
      /^Feeds of 1 outlet rolled on unseen/,
    ],
    [
      { outlets: [outletOf('a.example', { origins: fall })] },
      /worse sources than before: a\.example:/,
    ],
    [{ spent: ['pages of a.example'] }, /^Today's budget of pages of a\.example is used up: raise/],
    [
      {
        quarantine: { counts: [{ kind: 'page', reason: 'timeout', n: 2, ours: true }], newest: [] },
      },
      /^2 pages or articles in quarantine failed on our side: "npm run queues/,
    ],
    [{ unread: ['flow'] }, /^Could not be read in time: flow:/],
  ]
  for (const [changed, expected] of cases) {
    const [text = '', ...others] = texts(changed)
    t.match(text, expected)
    t.same(others, [], text)
  }
  t.same(
    texts({ outlets: [outletOf('a.example', { gaps: gaps(7) })] }),
    [],
    'an old gap is no news',
  )
})

t.test('a DATA_DIR that a process has seen is missed once it is removed or replaced', async t => {
  const folder = t.testdir({ data: {} })
  const config = readConfig({ DATA_DIR: `${folder}/data` })
  const look = async () =>
    causesOf({ ...FINE, around: { ...AROUND, disk: (await readSurroundings(config, null)).disk } })
  t.same(await look(), [])
  const missed = [
    {
      check: 'disk',
      text: `DATA_DIR ${folder}/data was removed while it was in use: ${FIRST.removed}.`,
    },
  ]
  renameSync(`${folder}/data`, `${folder}/away`)
  t.match(await look(), missed)
  mkdirSync(`${folder}/data`)
  t.match(await look(), missed)
})

t.test('what one process sees around it', async t => {
  const disk = (free: number, daysLeft: number | null = null) => ({
    disk: { folder: '/data', free, total: 1e11, daysLeft },
  })
  const cases: [Partial<Surroundings>, RegExp][] = [
    [disk(4e9), /^The disk of \/data is soon full/],
    [
      { index: ['articles 3 to 4 are in no segment'] },
      /^The index is damaged: articles 3 to 4 .*: run "npm run verify"/,
    ],
    [{ databaseFull: true }, /^Postgres cannot write, because its disk is full: free some space/],
    [disk(1e6), /^The disk of \/data is full \(1 MB of 100 GB are free\): free some space/],
    [{ memory: { free: 1e8, total: 8e9 } }, /^The machine has 100 MB of 8 GB of memory left/],
    [
      { names: { asked: 5, failed: 5, example: 'a.example', lie: null } },
      /^No name of an outlet resolves, as a\.example/,
    ],
    [
      { names: { asked: 5, failed: 0, example: '', lie: 'x.invalid' } },
      /answers falsely: it knows x\.invalid/,
    ],
    [disk(5e10, 3), /^The disk of \/data is full in 3 days/],
    [
      { clockAhead: -720 },
      /^The clock of this machine is 12 min behind the database's: set both clocks/,
    ],
    [
      { certificates: [{ of: 'QDRANT_URL', daysLeft: -1 }] },
      /has ended: give the server a new one/,
    ],
  ]
  for (const [changed, expected] of cases) t.match(around(changed).join('\n'), expected)
  const names = { asked: 1, failed: 1, example: 'a.example', lie: null }
  const outlets = [failing('a.example', 'the name does not resolve')]
  t.same(
    texts({ outlets, around: { ...AROUND, names } }),
    around({ names }),
    'one cause is named once',
  )
})

const ALONE: PostgresServers = {
  host: '::1',
  role: 'primary',
  mayLook: true,
  standbys: [],
  slots: [],
  archive: null,
}
const STANDBY = {
  name: 'b',
  host: '10.0.0.12',
  state: 'streaming',
  sync: true,
  lagBytes: 900,
  lagSeconds: 0.2,
}
const SLOT = { name: 'b', active: true, heldBytes: 16_000_000, lost: false }
const ARCHIVE = { failing: false, file: null }
const ONE: Machines = {
  hosts: [{ host: '::1', crawler: 1, normaliser: 1, embedder: 1, api: 1 }],
  postgres: ALONE,
  vectors: { nodes: [], unreachable: [], shards: [] },
  redis: { host: '::1', role: 'master', replicas: [] },
  archiveIndex: null,
}

t.test('each server that needs somebody is named', async t => {
  const postgres = (changed: Partial<PostgresServers>) => ({ postgres: { ...ALONE, ...changed } })
  const shards = [{ shard: 0, copies: [{ node: 'a', state: 'Dead' }] }]
  const index = {
    indices: 2,
    articles: 9_000_000,
    backlog: 0,
    health: { nodes: 3, active: 4, unassigned: 0 },
  }
  const cases: [Partial<Machines>, RegExp][] = [
    [{}, /^$/],
    [postgres({ standbys: [STANDBY], slots: [SLOT], archive: ARCHIVE }), /^$/],
    [postgres({ role: 'standby' }), /^The database is a standby, so nothing can be written: lead/],
    [
      postgres({ standbys: [{ ...STANDBY, lagSeconds: 90 }] }),
      /^The standby 10\.0\.0\.12 is 2 min behind/,
    ],
    [postgres({ standbys: [{ ...STANDBY, lagBytes: 3e9, lagSeconds: null }] }), /is 3 GB behind/],
    [postgres({ slots: [{ ...SLOT, heldBytes: 6e9 }] }), /^Postgres keeps 6 GB of log for slot b/],
    [postgres({ slots: [{ ...SLOT, lost: true }] }), /^The standby of slot b has to be made anew/],
    [
      { vectors: { nodes: ['a', 'b'], unreachable: ['b'], shards } },
      /^Qdrant does not reach b.*\n1 copy of vectors/,
    ],
    [
      { redis: { host: 'r', role: 'replica', replicas: [] } },
      /is a replica, so nothing can be queued/,
    ],
    [
      {
        redis: { host: 'm', role: 'master', replicas: [{ host: 'r', online: false, lagBytes: 0 }] },
      },
      /^1 replica of Redis cannot follow/,
    ],
    [
      { archiveIndex: { ...index, backlog: 600_000 } },
      /^600000 articles are due for the archive index: run/,
    ],
    [
      { archiveIndex: { ...index, health: { nodes: 2, active: 2, unassigned: 2 } } },
      /^OpenSearch misses 2 copies/,
    ],
    [{ archiveIndex: { ...index, health: null } }, /^OpenSearch does not say/],
  ]
  for (const [changed, expected] of cases)
    t.match(texts({ machines: { ...ONE, ...changed } }).join('\n'), expected)
})

t.test('the worst causes come first', async t => {
  const levels = causesOf({ ...FINE, spent: ['pages of a.example'], missing: ['postgres'] }).map(
    ({ level }) => level,
  )
  t.same(levels, ['bad', 'warn'])
})

t.test(
  'a service that restarts, and a queue that nobody serves, are seen over several looks',
  async t => {
    const restarts = createRestarts()
    for (let look = 0; look < 3; look++)
      t.same(restarts([`perscope crawler #${look}`, 'perscope api #1'], look), [])
    t.same(restarts(['perscope crawler #3', 'perscope api #1'], 4), ['crawler'])
    t.same(restarts(['perscope crawler #3'], 700_000), [], 'what is long past is forgotten')
    const stalls = createStalls()
    const waiting = { embed: { waiting: 2, active: 0, delayed: 0, failed: 0 } }
    t.same(stalls(waiting, 0), [])
    t.same(stalls(waiting, 130_000), ['embed'])
    t.same(stalls({ embed: { ...waiting.embed, active: 1 } }, 140_000), [])
  },
)

t.test('the annotation of an alarm says the first thing to do in the same words', async t => {
  const rules: { alert?: string; annotations?: { summary: string } }[] = parse(
    readFileSync(new URL('../infra/monitoring/rules/perscope.yml', import.meta.url), 'utf8'),
  ).groups.flatMap((group: { rules: object[] }) => group.rules)
  const summary = (name: string) =>
    rules.find(({ alert }) => alert === name)?.annotations?.summary ?? ''
  const alerts: Record<string, keyof typeof FIRST> = {
    PerscopeServiceGone: 'service',
    PerscopeNotifierGone: 'notifier',
    PerscopeAlertsBehind: 'notifier',
    PerscopeAlertsUndelivered: 'mail',
    PerscopeProcessRestarts: 'restarts',
    PerscopeApiNotReady: 'database',
    PerscopeNoArticles: 'quiet',
    PerscopeNormaliserBehind: 'normaliser',
    PerscopeEmbedderBehind: 'embedder',
    PerscopeQueueStuck: 'queue',
    PerscopeQuarantine: 'quarantine',
    PerscopeOutletsFailing: 'outlets',
    PerscopeFeedGaps: 'gaps',
    PerscopeOutletOverBudget: 'budget',
    PerscopeOutletOriginsFell: 'sources',
    PerscopeBackupOld: 'backup',
    PerscopeDiskFull: 'disk',
    PerscopeDiskSoonFull: 'disk',
    PerscopeStandbyBehind: 'lagging',
    PerscopeSlotHoldsLog: 'slot',
    PerscopeLogNotArchived: 'archiving',
    PerscopeVectorNodeGone: 'nodes',
    PerscopeArchiveIndexBehind: 'fill',
  }
  for (const [alert, first] of Object.entries(alerts)) {
    t.ok(
      summary(alert).endsWith(`: ${FIRST[first]}.`),
      `${alert}: "${summary(alert)}" ends with "${FIRST[first]}"`,
    )
  }
})

t.test('the trouble of an outlet is told in its row', async t => {
  const troubles = (more: Partial<OutletHealth<string>>) =>
    troublesOf(outletOf('a.example', more), Date.parse(AT))
  t.strictSame(troubles({ gaps: gaps(3) }), ['a feed rolled on unseen 2×, last 3 h ago'])
  t.strictSame(troubles({ origins: fall }), ['worse sources of date: json-ld 90 % → 40 %'])
})

const FLEET: Machines = {
  ...ONE,
  postgres: { ...ONE.postgres!, slots: [SLOT] },
  vectors: { nodes: ['a', 'b'], unreachable: [], shards: [] },
}

t.test('one machine is told from several by any copy elsewhere', async t => {
  t.ok(isOneMachine(ONE))
  t.ok(
    isOneMachine({ hosts: null, postgres: null, vectors: null, redis: null, archiveIndex: null }),
  )
  for (const part of ['postgres', 'vectors'] as const)
    t.notOk(isOneMachine({ ...ONE, [part]: FLEET[part] }))
  t.notOk(
    isOneMachine({ ...ONE, archiveIndex: { indices: 1, articles: 9, backlog: 0, health: null } }),
  )
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

t.test(
  'numbers are short from a million on, a span has one unit, a time ahead of the clock is now',
  async t => {
    t.strictSame([0, 1_234, 999_999, 1_234_567, 12_345_678].map(number), [
      '0',
      '1,234',
      '999,999',
      '1.23 M',
      '12.3 M',
    ])
    t.strictSame([plural(1, 'page'), plural(2, 'page')], ['1 page', '2 pages'])
    const spans = [0, 5.64, 40.4, 300, 12_600, 777_600, 94_608_000]
    t.strictSame(spans.map(span), [
      '0 s',
      '5.6 s',
      '40 s',
      '5 min',
      '3.5 h',
      '9 days',
      '1,095 days',
    ])
    t.equal(ago('2026-03-01T12:00:05.000Z', Date.parse('2026-03-01T12:00:00.000Z')), '0 s ago')
  },
)

t.test(
  'pages are late after ten minutes, embeddings after half an hour, the rest after an hour',
  async t => {
    const late = (oldest: number) => {
      const { flow } = FINE
      const waiting = {
        ...flow,
        pages: { ...flow.pages, oldest },
        embeddings: { ...flow.embeddings, oldest },
        removals: { ...flow.removals, oldest },
        looks: { ...flow.looks, oldest },
        back: { ...flow.back, oldest },
      }
      const all = [pagesAreLate, embeddingsAreLate, removalsAreLate, looksAreLate, backIsLate]
      return all.map(isLate => Number(isLate(waiting))).join('')
    }
    t.same([600, 601, 1_800, 1_801, 3_600, 3_601, 129_600, 129_601].map(late), [
      '00000',
      '10000',
      '10000',
      '11000',
      '11000',
      '11110',
      '11110',
      '11111',
    ])
  },
)

t.test('the newest backup is the newest of all folders that can be read', async t => {
  const folder = t.testdir({ files: {}, archive: { base: {} } })
  const [files, archive] = ['files', 'archive'].map(name => join(folder, name)) as [string, string]
  const made = (path: string, hours: number) => {
    writeFileSync(path, '')
    utimesSync(path, new Date(), new Date(Date.now() - hours * 3_600_000))
  }
  const away = join(folder, 'away')
  t.equal(await ageOfBackup([]), null)
  t.equal(await ageOfBackup([away]), null, 'nothing is known')
  t.equal(await ageOfBackup([files, away]), Infinity, 'there is none')
  made(join(files, 'removals.perscope.ndjson'), 0)
  t.equal(await ageOfBackup([files]), Infinity, 'a list is no backup')
  made(join(files, 'old.backup'), 72)
  const hours = async () => Math.round(((await ageOfBackup([away, files, archive])) ?? 0) / 3_600)
  t.equal(await hours(), 72)
  made(join(archive, 'base', '20261129T023000Z'), 5)
  t.equal(await hours(), 5)
})
