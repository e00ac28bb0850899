import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { createServer as createHttpServer } from 'node:http'
import { createServer } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import t from 'tap'
import { migrate } from '#infra/migrations/migrate'
import { syncOutlets } from '#scripts/outlets/sync'
import { readConfig } from '#shared/config/config'
import { createLogger } from '#shared/log/logger'
import { createPool } from '#shared/postgres/pool'
import { openQueues } from '#shared/queues/queues'
import { watchCauses } from '#status/cause-watch'
import { certify } from '#test/crawler/certificates'
import { createTestDatabase } from '#test/database'
import { createFleet, listen, until } from '#test/fleet'
import { startRedis } from '#test/queues/redis'
import { createMachine, type Server } from '#test/recovery/server'
import { run, succeeds } from '#test/script'

const DOCTOR = fileURLToPath(new URL('../../scripts/doctor.ts', import.meta.url))
const STATUS = fileURLToPath(new URL('../../scripts/status.ts', import.meta.url))
const database = await createTestDatabase(t)

interface Checked {
  code: number
  ok: boolean
  checks: { check: string; level: string; text: string }[]
}

const pool = createPool(database.url, 'test', () => {})
const config = readConfig({ DATABASE_URL: database.url, DATA_DIR: t.testdirName })
const queues = openQueues(config, createLogger('test', 'silent'))
t.teardown(() => Promise.all([queues.close(), pool.end()]))
/** Finds in this process the causes that the command tells. */
const watchHere = () => watchCauses({ pool, queues, config, missing: async () => ({}) })

const { PATH, NODE_COMPILE_CACHE } = process.env
const BASE = { PATH, NODE_COMPILE_CACHE, DATABASE_URL: database.url }

/** @param before a command that runs it, as `unshare` */
async function doctor(env: NodeJS.ProcessEnv, before: string[] = []): Promise<Checked> {
  const [command = '', ...words] = [...before, process.execPath, DOCTOR, '--json']
  const ended = await run(command, words, {
    env: { ...BASE, DATA_DIR: t.testdirName, ...env },
  }).catch((error: { code: number; stdout: string; stderr: string }) => error)
  if (ended.stdout === '') throw new Error(ended.stderr)
  return { code: 'code' in ended ? ended.code : 0, ...JSON.parse(ended.stdout) }
}
const lineOf = ({ checks }: Checked, check: string) =>
  checks.find(one => one.check === check)?.text ?? ''

/** Whether this process may make mounts of its own. */
const mayMount = await succeeds(run('unshare', ['-m', 'mount', '-t', 'tmpfs', 'none', '/mnt']))
const canFakeTime = await succeeds(run('faketime', ['-f', '+0s', 'true']))
const onlyWithMounts = { skip: !mayMount && 'this account may make no mounts' }

t.test('a fleet at work passes every check, and a service that is missing is named', async t => {
  const none = await run(process.execPath, [DOCTOR], {
    env: { ...BASE, DATA_DIR: t.testdirName },
  }).catch((error: { code: number; stdout: string }) => error)
  t.match(none, { code: 1, stdout: /^ok +database +Postgres answers and can be written$/m })
  for (const name of ['API', 'crawler', 'normaliser', 'embedder'])
    t.match(
      none.stdout,
      new RegExp(`^\\S+ +services +No ${name} is connected to the database: start one`, 'm'),
    )
  for (const check of ['names', 'network', 'articles'])
    t.match(
      none.stdout,
      new RegExp(`^– +${check} +not looked at: no outlet is in the catalogue$`, 'm'),
    )
  const fleet = createFleet({ DATABASE_URL: database.url, QDRANT_URL: '', EMBEDDINGS_URL: '' }, t)
  for (const service of ['api', 'crawler', 'normaliser', 'embedder'] as const)
    await fleet.start(service)
  const look = watchHere()
  const isBad = async () => (await look()).some(({ level }) => level === 'bad')
  await until(async () => !(await isBad()), 60_000, fleet.logs)
  const whole = await doctor({})
  t.match(whole, { code: 0, ok: true })
  t.match(lineOf(whole, 'qdrant'), 'QDRANT_URL and EMBEDDINGS_URL are not set')
  await fleet.stop()
})

t.test(
  'servers that are away, and a schema that is old, are named in the words of status',
  async t => {
    const away = {
      QDRANT_URL: 'http://127.0.0.1:1',
      EMBEDDINGS_URL: 'http://127.0.0.1:1',
      SMTP_URL: 'smtp://127.0.0.1:1',
    }
    await database.query('update segments_version set released_to = 5')
    const found = await doctor(away)
    await database.query('update segments_version set released_to = 0')
    t.match(
      lineOf(found, 'index'),
      /^The index is damaged: the archive index lacks .*: run "npm run verify"/,
    )
    t.match(lineOf(found, 'qdrant'), /because Qdrant does not answer: start Qdrant/)
    t.match(lineOf(found, 'model'), /because the model does not answer: start the model server/)
    t.match(lineOf(found, 'mail'), /because the mail server does not answer: start the mail server/)
    const { stdout } = await run(process.execPath, [STATUS], {
      env: { ...BASE, DATA_DIR: t.testdirName, ...away },
    })
    t.match(stdout, lineOf(found, 'qdrant'), 'status says the same')
    await database.query("insert into migrations (number, name) values (999, 'later')")
    t.match(lineOf(await doctor({}), 'migrations'), /is at migration 999, .*: update this checkout/)
    await database.query("delete from migrations where name = 'later'")
    const look = watchHere()
    const texts = async () => (await look()).map(({ text }) => text).join()
    await database.query('update migrations set number = number - 100 where number > 27')
    t.match(await texts(), /is at migration 27, .*: run "npm run migrate"/)
    await database.query('update migrations set number = number + 100 where number < 0')
    await database.query('update migrations set number = -number where number = 70')
    t.match(await texts(), /lacks 0070_second_looks.sql: run "npm run migrate"/)
    await database.query('update migrations set number = -number where number < 0')
    const without = await doctor({ DATABASE_URL: '' })
    t.match(lineOf(without, 'database'), /^DATABASE_URL is not set: set it/)
    for (const [check, why] of [
      ['services', 'the database is away'],
      ['qdrant', 'the database is away'],
      ['model', 'EMBEDDINGS_URL is not set'],
    ] as const)
      t.equal(lineOf(without, check), `not looked at: ${why}`)
  },
)

t.test(
  'a server that is there, and does not serve us, is named with its own first step',
  async t => {
    const redis = await startRedis()
    const refusing = createHttpServer((_, response) => response.writeHead(401).end('{}'))
    const REFUSING = `http://127.0.0.1:${await listen(refusing)}`
    t.teardown(() => Promise.all([redis.stop(), refusing.close()]))
    const role = `full_${process.pid}`
    await database.query(`create role ${role} login password 'x' connection limit 0`)
    const at = (change: (url: URL) => void) => {
      const url = new URL(database.url)
      change(url)
      return { DATABASE_URL: url.href }
    }
    // Each time, something besides the database is wrong.
    const cases: [NodeJS.ProcessEnv, Record<string, RegExp>][] = [
      [
        { ...at(url => Object.assign(url, { port: '1' })), TRUST_PROXY: 'foo' },
        {
          database: /^Postgres does not answer: start Postgres/,
          settings: /^TRUST_PROXY is "foo"; write a number of hops/,
        },
      ],
      [
        {
          ...at(url => Object.assign(url, { username: role, password: 'x' })),
          CRAWL_PORTS: '1-99999999',
        },
        {
          database: /no connection left: end clients/,
          settings: /^CRAWL_PORTS holds "1-99999999"; write ports/,
        },
      ],
      [
        {
          ...at(url => Object.assign(url, { username: 'nobody', password: 'x' })),
          CRAWL_USER_AGENT: 'x',
        },
        {
          database: /refuses our account or key: mend account and password in DATABASE_URL/,
          settings: /names no contact/,
        },
      ],
      [
        {
          ...at(url => Object.assign(url, { pathname: '/absent' })),
          QDRANT_URL: REFUSING,
          EMBEDDINGS_URL: REFUSING,
        },
        {
          database: /no database of that name: make it with cr/,
          qdrant: /Qdrant refuses our account or key: mend QDRANT_API_KEY/,
          model: /the model refuses our account or key: mend EMBEDDINGS_API_KEY/,
        },
      ],
      [
        {
          ...at(url => url.searchParams.set('sslmode', 'require')),
          QDRANT_URL: REFUSING.replace('http:', 'https:'),
        },
        {
          database: /agrees with us on no TLS: mend the scheme or/,
          qdrant: /Qdrant agrees with us on no TLS: .* QDRANT_URL/,
        },
      ],
      [
        {
          ...at(url => Object.assign(url, { hostname: 'db.invalid' })),
          REDIS_URL: redis.url?.replace(/:[^:@/]+@/, ':wrong@'),
        },
        {
          database: /name that nobody knows: mend the host in D/,
          ...(redis.url === null ? {} : { queues: /refuses our .*: mend the password/ }),
        },
      ],
    ]
    await Promise.all(
      cases.map(async ([env, expected]) => {
        const found = await doctor(env)
        for (const [check, text] of Object.entries(expected)) t.match(lineOf(found, check), text)
      }),
    )
  },
)

t.test('a full disk, and a machine without memory, are named', onlyWithMounts, async t => {
  const folder = join(t.testdir(), 'disk')
  mkdirSync(folder)
  const script = `mount -t tmpfs -o size=80m none "$0" && sed -E 's/^(MemFree|MemAvailable):.*/\\1: 90000 kB/' /proc/meminfo > "$0/meminfo" &&
    mount --bind "$0/meminfo" /proc/meminfo && dd if=/dev/zero of="$0/fill" bs=1M count=70 2>/dev/null; exec "$@"`
  const full = await doctor({ DATA_DIR: folder, PUBLIC_URL: 'https://127.0.0.1:1' }, [
    'unshare',
    '-m',
    'sh',
    '-c',
    script,
    folder,
  ])
  t.match(
    lineOf(full, 'disk'),
    /^The disk of .*disk is full \(.* are free\): free some space there/,
  )
  t.match(
    lineOf(full, 'memory'),
    /^The machine has 92 MB of .* of memory left: end other programs, or give the machine more/,
  )
  t.match(
    lineOf(full, 'certificates'),
    /^The certificate of PUBLIC_URL could not be read: see whether that server answers by TLS/,
  )
  t.equal(full.code, 1)
})

t.test('a full disk of Postgres is named by status too', onlyWithMounts, async t => {
  const folder = await mkdtemp(join(tmpdir(), 'perscope-disk-'))
  const disk = join(folder, 'disk')
  await mkdir(disk)
  await run('mount', ['-t', 'tmpfs', '-o', 'size=240m', 'none', disk])
  let server: Server | undefined
  t.teardown(async () => {
    await server?.stop()
    await run('umount', [disk])
    await rm(folder, { recursive: true })
  })
  await chmod(folder, 0o755)
  const machine = await createMachine(folder)
  await machine.initialise(join(disk, 'data'))
  server = await machine.start(join(disk, 'data'))
  const { url } = server
  await migrate(url)
  const status = async () => {
    const env = { ...BASE, DATA_DIR: t.testdirName, DATABASE_URL: url }
    return (await run(process.execPath, [STATUS], { env })).stdout
  }
  const full = /^WRONG +Postgres cannot write, because its disk is full: free some space there/m
  await run('dd', ['if=/dev/zero', `of=${join(disk, 'fill')}`, 'bs=64k']).catch(() => {})
  t.match(await status(), full)
  await rm(join(disk, 'fill'))
  t.notMatch(await status(), full)
})

t.test(
  'a service that ends again and again, one of an older version, and a queue that nobody empties',
  async t => {
    const fleet = createFleet({ DATABASE_URL: database.url, QDRANT_URL: '', EMBEDDINGS_URL: '' }, t)
    const look = watchHere()
    const texts = async () => (await look()).map(({ text }) => text)
    const isMissing = (text: string) => text.startsWith('No normaliser is connected')
    for (let times = 0; times < 3; times++) {
      const isNamed = (await texts()).some(text => text.includes('again and again'))
      t.notOk(isNamed, 'not after an update')
      const { process, exited } = await fleet.start('normaliser')
      await until(async () => !(await texts()).some(isMissing), 60_000)
      process.kill('SIGKILL')
      await exited
      await until(async () => (await texts()).some(isMissing), 60_000)
    }
    t.ok((await texts()).includes('The normaliser restarts again and again: read its log.'))
    await pool.query('alter table alert_messages rename to away')
    t.match((await texts()).join(), 'Could not be read in time: alerts: see whether')
    await pool.query('alter table archive_indices rename to away_indices')
    const blind = await doctor({})
    for (const check of ['alerts', 'index'])
      t.equal(lineOf(blind, check), 'not looked at: the database answers too late')
    await pool.query('alter table away_indices rename to archive_indices')
    await pool.query('alter table away rename to alert_messages')
    const older = new pg.Client({
      connectionString: database.url,
      application_name: 'perscope crawler #before m1',
    })
    await older.connect()
    await queues.add('normalise', [{ key: '1', data: { pageNo: '1' } }])
    const found = await doctor({})
    await older.end()
    const services = found.checks
      .filter(({ check }) => check === 'services')
      .map(({ text }) => text)
    t.match(services.join('\n'), /^1 process of the crawler is of an older version: restart it/m)
    t.match(
      lineOf(found, 'queues'),
      /^Messages wait in normalise, and nobody takes them: restart the service/,
    )
    await queues.drain('normalise')
  },
)

t.test('a clock that is wrong, and a certificate that ends, are named', async t => {
  const { certificate, key } = certify({
    name: 'Qdrant',
    issuer: null,
    until: new Date(Date.now() + 3.5 * 86_400_000),
  })
  const server = createServer({ cert: certificate, key }, (_, response) => response.end())
  t.teardown(() => server.close())
  const PUBLIC_URL = `https://127.0.0.1:${await listen(server)}`
  const wrong = await doctor({ PUBLIC_URL }, canFakeTime ? ['faketime', '-f', '+90s'] : [])
  t.equal(
    lineOf(wrong, 'certificates'),
    'The certificate of PUBLIC_URL ends in 4 days: give the server a new one.',
  )
  if (!canFakeTime) return t.comment('left out: no faketime on this machine')
  t.match(
    lineOf(wrong, 'clock'),
    /^The clock of this machine is \d+ (s|min) ahead of the database's: set both clocks/,
  )
  t.equal(wrong.code, 1)
})

t.test(
  'a name server that fails, and one that answers falsely, are named',
  onlyWithMounts,
  async t => {
    const outlet = (domain: string) => ({
      name: domain,
      domain,
      country: 'NL' as const,
      languages: ['nl' as const],
      timeZone: 'Europe/Amsterdam',
      feeds: [`https://${domain}/feed.xml`],
      sitemaps: [],
    })
    await syncOutlets(pool, [outlet('krant-een.test'), outlet('krant-twee.test')], { remove: [] })
    let how: How = 'fails'
    const server = createSocket('udp4')
    server.on('message', (question, from) =>
      server.send(answerTo(question, how), from.port, from.address),
    )
    server.bind(53, '127.0.0.153')
    await once(server, 'listening')
    t.teardown(() => server.close())
    const file = join(t.testdir({}), 'resolv.conf')
    writeFileSync(file, 'nameserver 127.0.0.153\noptions timeout:1 attempts:1\n')
    const script = 'mount --bind "$0" "$(readlink -f /etc/resolv.conf)"; exec "$@"'
    const resolver = ['unshare', '-m', 'sh', '-c', script, file]
    t.match(
      lineOf(await doctor({}, resolver), 'names'),
      /^No name of an outlet resolves, as krant-.*: check the network/,
    )
    how = 'lacks krant-twee'
    const found = await doctor({}, resolver)
    t.match(
      lineOf(found, 'names'),
      /^The name krant-twee\.test of a feed in the catalogue has no address: if it is misspelt/,
    )
    t.match(found.checks.find(({ check }) => check === 'names')?.level, 'warn')
    how = 'lies'
    t.match(
      lineOf(await doctor({}, resolver), 'names'),
      /^The name server answers falsely: it knows perscope-.*\.invalid/,
    )
  },
)

/** What the name server does: SERVFAIL, one name that does not exist (RFC 1035), or any address. */
type How = 'fails' | 'lacks krant-twee' | 'lies'

function answerTo(question: Buffer, how: How): Buffer {
  const end = question.indexOf(0, 12) + 5
  const isAddress = question.readUInt16BE(end - 4) === 1
  const isAbsent = how !== 'lies' && /krant-twee|invalid/.test(question.toString('latin1'))
  const code = how === 'fails' ? 2 : isAbsent ? 3 : 0
  const isFound = isAddress && code === 0
  const head = Buffer.from(question.subarray(0, 12))
  head.writeUInt16BE(0x8180 + code, 2)
  head.writeUInt16BE(isFound ? 1 : 0, 6)
  head.writeUInt32BE(0, 8)
  const record = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 9, 0, 4, 127, 0, 0, 9])
  return Buffer.concat([head, question.subarray(12, end), ...(isFound ? [record] : [])])
}
