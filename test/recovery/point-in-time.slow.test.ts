import { execFile } from 'node:child_process'
import { appendFile, chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { migrate } from '../../infra/migrations/migrate.ts'
import { createKey } from '../../shared/plans/keys.ts'
import { registerServing } from '../../shared/vectors/registry.ts'
import { openVectorStore } from '../../shared/vectors/store.ts'
import { ask, PLAN } from '../contract/api.ts'
import { createFleet, type Fleet, until } from '../fleet.ts'
import { startTestServers } from '../servers.ts'
import { createMachine, type Server } from './server.ts'
import { startWriter } from './writer.ts'

t.setTimeout(280_000)

const run = promisify(execFile)
const root = await mkdtemp(join(tmpdir(), 'perscope-recovery-'))
await chmod(root, 0o755)
const running: { stop(): Promise<void> }[] = []
t.teardown(async () => {
  for (const one of running.reverse()) await one.stop()
  await rm(root, { recursive: true, force: true })
})
const machine = await createMachine(root)
const qdrant = await startTestServers({ servers: ['qdrant'] })
running.push(qdrant)
const { QDRANT_URL = '', QDRANT_API_KEY = '' } = qdrant.settings
const vectors = openVectorStore({ QDRANT_URL, QDRANT_API_KEY }, 15_000)
const COLLECTION = 'articles-of-the-recovery'

/** Starts a server that archives its log. */
async function startArchiving(folder: string): Promise<Server> {
  const server = await machine.start(folder)
  running.push(server)
  return server
}

async function startApi(url: string): Promise<Fleet> {
  const fleet = createFleet({ DATABASE_URL: url, QDRANT_URL: '', EMBEDDINGS_URL: '', LOG_LEVEL: 'warn' })
  running.push(fleet)
  await fleet.start('api')
  return fleet
}

/** Gives every article a vector, as the embedder does. */
async function embedAll(server: Server): Promise<void> {
  const rows = await server.query('select seq from articles')
  await vectors.upsert(
    COLLECTION,
    rows.map(({ seq }) => ({ seq: BigInt(String(seq)), vector: [1, 0, 0, 0], country: 'NL', coveredAt: Date.now() })),
  )
  await server.query('update embeddings set embedded_at = clock_timestamp()')
}

const titlesIn = async (server: Server) =>
  (await server.query('select title from article_texts order by seq')).map(({ title }) => String(title))

const recovered = (url: string, ...words: string[]) =>
  run(process.execPath, [new URL('../../scripts/recovered.ts', import.meta.url).pathname, ...words], {
    env: { ...process.env, DATABASE_URL: url, QDRANT_URL, QDRANT_API_KEY },
  })

// The first server: it archives, takes articles all the time, and is backed up meanwhile.
const first = join(root, 'first')
await machine.initialise(first)
await appendFile(join(first, 'postgresql.conf'), await machine.file('archive.conf'))
const old = await startArchiving(first)
await migrate(old.url)
const { secret } = await (async () => {
  const writer = await startWriter(old.url, 'sleutel')
  running.push(writer)
  const key = await createKey(writer.pool, 'reader', PLAN)
  await registerServing(writer.pool, { name: COLLECTION, model: 'test', recipe: 1, dimensions: 4 })
  running.pop()
  await writer.stop()
  return key
})()
await vectors.ensure(COLLECTION, 4)

// Its secret of the cursors is older than the moment that the recovery leads to.
const oldApi = await startApi(old.url)

const base = join(root, 'base')
const before = await startWriter(old.url, 'voor')
const backup = machine.backUp(old)
await before.more(30)
await backup
await before.more(30)
await before.stop()
const kept = await titlesIn(old)
const [{ moment } = { moment: '' }] = await old.query('select clock_timestamp()::text as moment')
const after = await startWriter(old.url, 'na')
await after.more(60)
await after.stop()
await embedAll(old)

// What clients hold when the mistake happens.
const shown = await ask(`${oldApi.base()}/v1/articles?sort=ingested_at&order=desc&per_page=5`, secret)
const { next_cursor: cursor } = shown.json
const newest: string = shown.json.articles[0].ingested_at
const goesOn = (api: Fleet) =>
  ask(`${api.base()}/v1/articles?sort=ingested_at&order=desc&per_page=5&cursor=${encodeURIComponent(cursor)}`, secret)

t.test('the archive holds the log up to the mistake', async t => {
  t.equal((await goesOn(oldApi)).status, 200)
  await oldApi.stop()
  await old.query('drop table article_texts cascade')
  const [{ file } = { file: '' }] = await old.query('select pg_walfile_name(pg_switch_wal()) as file')
  await until(
    async () => (await readdir(machine.archive)).includes(String(file)),
    60_000,
    () => old.log(),
  )
  const [{ failed_count } = { failed_count: -1 }] = await old.query('select failed_count from pg_stat_archiver')
  t.equal(Number(failed_count), 0)
  await old.stop()
})

t.test('the base backup and the archive lead to the moment before the mistake', async t => {
  await machine.restore(base)
  const settings = (await machine.file('recover.conf')).replace("'TIME'", `'${moment}'`)
  await appendFile(join(base, 'postgresql.auto.conf'), settings)
  // As Patroni leaves it in a base backup: a commit would wait for a standby that is not there.
  await appendFile(join(base, 'postgresql.conf'), "synchronous_standby_names = 'b'\n")
  await writeFile(join(base, 'recovery.signal'), '')
  const server = await startArchiving(base)
  await until(
    async () => (await server.query('select pg_get_wal_replay_pause_state() as state'))[0]?.state === 'paused',
    60_000,
    () => server.log(),
  )
  t.same(await titlesIn(server), kept, 'each article of the moment, and none of later')
  await t.rejects(recovered(server.url), { code: 2, stderr: /pg_wal_replay_resume/ })
  await server.query('select pg_wal_replay_resume()')
  await until(async () => (await server.query('select pg_is_in_recovery() as is'))[0]?.is === false, 60_000)

  t.equal(await vectors.count(COLLECTION), kept.length + after.titles.length)
  const { stdout } = await recovered(server.url, '--json')
  const told = JSON.parse(stdout)
  t.equal(told.articles, kept.length)
  t.ok(told.clock > newest, 'the clock stands after what clients were shown')
  t.equal(await vectors.count(COLLECTION), kept.length, 'no vector of an article that is gone')

  const ahead = new Date(Date.now() + 60_000).toISOString()
  t.equal(JSON.parse((await recovered(server.url, '--json', '--seen', ahead)).stdout).clock, ahead)
})

t.test('clients go on: none misses a new article, and none sees it in a page from before', async t => {
  const server = running.findLast((one): one is Server => 'folder' in one && one.folder === base)!
  const api = await startApi(server.url)
  await t.rejects(recovered(server.url), { code: 2, stderr: /Perscope runs on this database \(api\)/ })
  const refused = await goesOn(api)
  t.equal(refused.status, 422)
  const writer = await startWriter(server.url, 'erna')
  await writer.more(30)
  await writer.stop()
  const polled = new Set<string>()
  for (let next = ''; ; ) {
    const path = `/v1/articles?sort=ingested_at&order=asc&per_page=50&ingested_after=${newest}${next}`
    const { status, json } = await ask(`${api.base()}${path}`, secret)
    t.equal(status, 200)
    for (const { title } of json.articles) polled.add(title)
    if (json.next_cursor === null) break
    next = `&cursor=${encodeURIComponent(json.next_cursor)}`
  }
  t.same([...polled].sort(), [...writer.titles].sort())
  const [{ file } = { file: '' }] = await server.query('select pg_walfile_name(pg_switch_wal()) as file')
  await until(
    async () => (await readdir(machine.archive)).includes(String(file)),
    60_000,
    () => server.log(),
  )
  t.match(file, /^00000002/, 'it archives a timeline of its own')
})

t.test('the last two base backups are kept, and the log since the older one', async t => {
  const server = running.findLast((one): one is Server => 'folder' in one && one.folder === base)!
  const firstFile = (await readdir(machine.archive)).sort()[0] ?? ''
  const [oldest] = await machine.backups()
  for (let wanted = 2; wanted <= 3; wanted++) {
    // Two of the same second would have the same name.
    await until(async () => machine.backUp(server).then(() => true), 60_000)
  }
  const left = await machine.backups()
  t.equal(left.length, 2)
  t.notOk(left.includes(oldest ?? ''))
  const label = await readFile(join(machine.archive, '..', 'base', left[0] ?? '', 'backup_label'), 'utf8')
  const [, needed = ''] = /\(file ([0-9A-F]{24})\)/.exec(label) ?? []
  const log = (await readdir(machine.archive)).filter(file => /^[0-9A-F]{24}$/.test(file))
  t.notOk(log.includes(firstFile))
  // The first eight characters are the timeline.
  t.ok(log.every(file => file.slice(8) >= needed.slice(8)))
})
