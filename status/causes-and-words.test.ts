import { chmodSync, mkdirSync, readFileSync, renameSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { readConfig } from '#shared/config/config'
import type { Cause, Machines, OutletHealth, PostgresServers, Surroundings } from '#shared/figures'
import {
  backIsLate,
  embeddingsAreLate,
  looksAreLate,
  pagesAreLate,
  removalsAreLate,
} from '#shared/figures'
import { tryRows } from '#test/examples'
import { run } from '#test/script'
import { createCauseNews, createRestarts, createStalls } from './cause-watch.ts'
import TABLE from './causes.json' with { type: 'json' }
import { causesOf, type Facts, FIRST } from './causes.ts'
import { ageOfBackup, folderFaults, readSurroundings } from './surroundings.ts'
import { ago, isOneMachine, number, plural, serversInWords, span, troublesOf } from './words.ts'

const AT = '2026-03-01T12:00:00.000Z'
const AROUND: Surroundings = {
  disk: { folder: '/data', free: 5e10, total: 1e11, daysLeft: null },
  memory: { free: 4e9, total: 8e9 },
  clockAhead: 0.1,
  names: { asked: 5, failed: 1, example: 'gone.example', absent: [], lie: null },
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
  outlets: [outletOf('fine.example')],
  quarantine: { counts: [], newest: [] },
  around: AROUND,
  missing: [],
  unread: [],
} satisfies Facts

const ALONE: PostgresServers = {
  host: '::1',
  role: 'primary',
  mayLook: true,
  standbys: [],
  slots: [],
  archive: null,
}
const SLOT = { name: 'b', active: true, heldBytes: 16_000_000, lost: false }
const ONE: Machines = {
  hosts: [{ host: '::1', crawler: 1, normaliser: 1, embedder: 1, api: 1 }],
  postgres: ALONE,
  vectors: { nodes: [], unreachable: [], shards: [] },
  redis: { host: '::1', role: 'master', replicas: [] },
  archiveIndex: null,
}

const texts = (more: Partial<Facts>) => causesOf({ ...FINE, ...more }).map(({ text }) => text)

function outletOf(domain: string, more: Partial<OutletHealth<string>> = {}): OutletHealth<string> {
  return {
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
  }
}
const gaps = (hours: number) => ({
  count: 2,
  from: AT,
  to: new Date(Date.parse(AT) - hours * 3_600_000).toISOString(),
})
const fall = { shares: [], falls: [{ field: 'date', source: 'json-ld', before: 0.9, now: 0.4 }] }

t.test('a fleet at work has no causes', async t => {
  t.strictSame(texts({}), [])
})

/** `whole` with other values. Objects keep what `more` does not name. */
function changed<T extends object>(whole: T, more: object): T {
  const copy = structuredClone(whole)
  for (const [key, value] of Object.entries(more)) {
    const own = Reflect.get(copy, key)
    const isPart = value?.constructor === Object && own?.constructor === Object
    Reflect.set(copy, key, isPart ? changed(own, value) : value)
  }
  return copy
}

/** What is not `FINE`, and what is said then, as a pattern. */
interface Row {
  says: string
  outlets?: { domain: string }[] | undefined
  machines?: object | undefined
}

// test/operators/doctor.slow.test.ts and test/machines test the other causes.
tryRows<Row>(t, TABLE, {}, (t, { says, outlets = [{ domain: 'fine.example' }], ...more }) => {
  const all = outlets.map(({ domain, ...own }) => changed(outletOf(domain), own))
  const facts = more.machines === undefined ? FINE : { ...FINE, machines: ONE }
  const said = texts(changed<Facts>(facts, { outlets: all, ...more }))
  t.match(said.join('\n'), new RegExp(says))
  t.equal(said.length, says === '^$' ? 0 : says.split('\n').length, says)
})

t.test('an old gap is no news, and one cause is named once', async t => {
  t.same(texts({ outlets: [outletOf('a.example', { gaps: gaps(7) })] }), [])
  const names = { asked: 1, failed: 1, example: 'a.example', absent: [], lie: null }
  const outlets = [outletOf('a.example', { health: 'failing', error: 'the name does not resolve' })]
  const seen = { ...AROUND, names }
  t.same(texts({ outlets, around: seen }), texts({ around: seen }))
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
    for (let look = 0; look < 4; look++)
      t.same(restarts([`perscope crawler #${look}`, 'perscope api #1'], look), [])
    t.same(restarts(['perscope crawler #4', 'perscope api #1'], 4), ['crawler'])
    t.same(restarts(['perscope crawler #4'], 700_000), [], 'what is long past is forgotten')
    const stalls = createStalls()
    const waiting = { embed: { waiting: 2, active: 0, delayed: 0, failed: 0 } }
    t.same(stalls(waiting, 0), [])
    t.same(stalls(waiting, 130_000), ['embed'])
    t.same(stalls({ embed: { ...waiting.embed, active: 1 } }, 140_000), [])
  },
)

t.test('an update that replaces many processes is no restart again and again', async t => {
  const restarts = createRestarts()
  const of = (...marks: string[]) => marks.map(mark => `perscope api #${mark} m1`)
  t.same(restarts(of('a', 'b', 'c'), 0), [])
  t.same(restarts(of('d', 'b', 'c'), 60_000), [])
  t.same(restarts(of('d', 'e', 'f'), 120_000), [])
  t.same(restarts(of('g', 'h', 'i'), 180_000), ['api'], 'these had begun since')
})

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
    PerscopeBackupUnwatched: 'unwatched',
    PerscopeMachineDiskFull: 'disk',
    PerscopeMachineDiskSoonFull: 'disk',
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

t.test(
  'a cause is told when it begins and when it is over, which a blind look does not know',
  t => {
    const newsOf = createCauseNews()
    const cause = (check: string, text: string): Cause => ({ check, level: 'bad', text })
    const away = cause('database', 'Postgres does not answer.')
    const slow = cause('articles', 'No article for 7 min.')
    const slower = cause('articles', 'No article for 8 min.')
    const late = causesOf({ ...FINE, unread: ['flow'] })[0]!
    const other = causesOf({ ...FINE, unread: ['outlets'] })[0]!
    const standby = causesOf({
      ...FINE,
      machines: { ...ONE, postgres: { ...ALONE, role: 'standby' } },
    })[0]!
    const looks: [causes: Cause[], begun: Cause[], over: Cause[]][] = [
      [[slow], [slow], []],
      [[slower], [], []],
      [[away], [away], []],
      [[away], [], []],
      [[slow], [], [away]],
      [[], [], [slow]],
      [[late, slow], [late, slow], []],
      [[late, other], [other], []],
      [[other], [], [slow, late]],
      [[late, slow], [late, slow], [other]],
      [[late], [], []],
      [[standby], [standby], [slow, late]],
      [[], [], [standby]],
    ]
    for (const [causes, begun, over] of looks) t.same(newsOf(causes), { begun, over })
    t.end()
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

t.test('a folder of backups is at fault where this machine should have it', t => {
  for (const [given, expected] of [
    ['open', []],
    ['open closed', []],
    ['open away silent', ['away', 'silent']],
    ['closed closed', ['closed', 'closed']],
    ['away', []],
    ['away closed', []],
    ['away silent', ['silent']],
  ] as const) {
    const states = given.split(' ').map((state, at) => [`/${at}`, state] as const)
    const told = folderFaults(new Map(states as [string, 'open'][]))
    const sentences = { away: 'is not on this', closed: 'cannot read', silent: 'does not answer' }
    t.match(
      told,
      expected.map(state => new RegExp(sentences[state])),
      given,
    )
    t.equal(told.length, expected.length, given)
  }
  t.end()
})

t.test(
  'a folder of backups is asked for by the account, and for some seconds alone',
  { skip: process.getuid?.() !== 0 && 'only root can become another account' },
  async t => {
    const folder = t.testdir({
      open: {},
      closed: {},
      half: { base: {} },
      silent: {},
      bin: { ls: '#!/bin/sh\ncase "$3" in *silent*) exec sleep 60;; esac\n' },
    })
    const at = (name: string) => join(folder, name)
    for (const name of ['.', 'bin/ls']) chmodSync(at(name), 0o755)
    for (const name of ['closed', 'half/base']) chmodSync(at(name), 0o700)
    const asked = ['open', 'closed', 'half', 'away', 'silent'].map(at)
    const code = `
      import { folderStates } from '${new URL('surroundings.ts', import.meta.url)}'
      const states = await folderStates(${JSON.stringify(asked)})
      console.log([...states.values()].join(' '))`
    const env = { ...process.env, PATH: `${at('bin')}:${process.env.PATH}` }
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', code], {
      uid: 65520,
      env,
    })
    t.equal(stdout, 'open closed closed away silent\n')
  },
)
