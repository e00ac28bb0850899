import { appendFile, chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { migrate } from '#infra/migrations/migrate'
import { createKey } from '#shared/plans/keys'
import { createPool } from '#shared/postgres/pool'
import { ask, PLAN } from '#test/contract/api'
import { PATIENT, withDatabase } from '#test/database'
import { createFleet, type Fleet, until } from '#test/fleet'
import { operatorsFile } from '#test/fleet/parts/operators-file'
import { runScript } from '#test/script'
import { newArticle, openTestWriter } from '#test/search/short-articles'
import { endRecovery, recoverTo, untilAtMoment } from './log-archive.ts'
import { createMachine, type Server } from './server.ts'

const root = await mkdtemp(join(tmpdir(), 'perscope-recovery-'))
await chmod(root, 0o755)
const running: { stop(): Promise<void> }[] = []
t.teardown(async () => {
  for (const one of running.reverse()) await one.stop()
  await rm(root, { recursive: true, force: true })
})
const machine = await createMachine(root)
const { archive } = machine

async function start(folder: string): Promise<Server> {
  const server = await machine.start(folder)
  running.push(server)
  return server
}

async function startApi(url: string): Promise<Fleet> {
  const fleet = createFleet({
    DATABASE_URL: url,
    QDRANT_URL: '',
    EMBEDDINGS_URL: '',
    LOG_LEVEL: 'warn',
  })
  running.push(fleet)
  await fleet.start('api')
  return fleet
}

/** Writes batches of articles without a pause, until `work` is done; returns their titles. */
async function write(
  url: string,
  name: string,
  work: Promise<unknown> = Promise.resolve(),
): Promise<string[]> {
  const pool = createPool(url, 'test', () => {}, PATIENT)
  const { writer } = openTestWriter(pool, 3_600_000)
  const titles: string[] = []
  let isDone = false
  const writing = async () => {
    for (let number = 0; number < 60 || !isDone; number += 3) {
      const batch = [1, 2, 3].map(more => `${name}-${number + more}`)
      await writer.write(
        batch.map(title =>
          newArticle(0, {
            url: `https://krant.example/${title}`,
            addresses: [`krant.example/${title}`],
            title,
          }),
        ),
      )
      titles.push(...batch)
    }
  }
  const waiting = work.finally(() => {
    isDone = true
  })
  await Promise.all([writing(), waiting])
  await pool.end()
  return titles
}

const titlesIn = async (server: Server) =>
  (await server.query('select title from article_texts order by seq')).map(({ title }) =>
    String(title),
  )

const recovered = (url: string, ...words: string[]) =>
  runScript('recovered', words, { DATABASE_URL: url, QDRANT_URL: '' })

// The first server: it archives, takes articles all the time, and is backed up meanwhile.
const first = join(root, 'first')
await machine.initialise(first)
const archiving = await readFile(operatorsFile('postgres/archive.conf'), 'utf8')
await appendFile(
  join(first, 'postgresql.conf'),
  archiving
    .replace('/etc/perscope/postgres', root)
    .replace('/var/lib/perscope-archive', archive.folder),
)
const old = await start(first)
await migrate(old.url)
const { secret } = await withDatabase(old.url, client => createKey(client, 'reader', PLAN))

// Its secret of the cursors is older than the moment that the recovery leads to.
const oldApi = await startApi(old.url)

await write(old.url, 'eerst')
await write(old.url, 'intussen', archive.backUp(old.url))
await write(old.url, 'daarna')
const kept = await titlesIn(old)
const [{ moment } = { moment: '' }] = await old.query('select clock_timestamp()::text as moment')
await write(old.url, 'te-laat')

// What clients hold when the mistake happens.
const shown = await ask(
  `${oldApi.base()}/v1/articles?sort=ingested_at&order=desc&per_page=5`,
  secret,
)
const { next_cursor: cursor } = shown.json
const newest: string = shown.json.articles[0].ingested_at
const goesOn = (api: Fleet) =>
  ask(
    `${api.base()}/v1/articles?sort=ingested_at&order=desc&per_page=5&cursor=${encodeURIComponent(cursor)}`,
    secret,
  )

t.test('the archive holds the log up to the mistake', async t => {
  t.equal((await goesOn(oldApi)).status, 200)
  await oldApi.stop()
  await old.query('drop table article_texts cascade')
  await archive.untilArchived(old.query)
  const [{ failed_count } = { failed_count: -1 }] = await old.query(
    'select failed_count from pg_stat_archiver',
  )
  t.equal(Number(failed_count), 0)
  await old.stop()
})

let server!: Server

t.test('the base backup and the archive lead to the moment before the mistake', async t => {
  const base = join(root, 'base')
  await archive.restore(base)
  await recoverTo(String(moment), base, archive)
  // As Patroni leaves it in a base backup: a commit would wait for a standby that is not there.
  await appendFile(join(base, 'postgresql.conf'), "synchronous_standby_names = 'b'\n")
  server = await start(base)
  await untilAtMoment(server.query)
  t.same(await titlesIn(server), kept, 'each article of the moment, and none of later')
  t.match(await recovered(server.url), { code: 2, err: /pg_wal_replay_resume/ })
  await endRecovery(server.query)
  const told = JSON.parse((await recovered(server.url, '--json')).out)
  t.equal(told.articles, kept.length)
  t.ok(told.clock > newest, 'the clock stands after what clients were shown')
  const ahead = new Date(Date.now() + 60_000).toISOString()
  t.equal(JSON.parse((await recovered(server.url, '--json', '--seen', ahead)).out).clock, ahead)
})

t.test(
  'clients go on: none misses a new article, and none sees it in a page from before',
  async t => {
    const api = await startApi(server.url)
    t.match(await recovered(server.url), { code: 2, err: /Perscope runs on this database \(api\)/ })
    t.equal((await goesOn(api)).status, 422)
    const titles = await write(server.url, 'erna')
    const path = `/v1/articles?sort=ingested_at&order=asc&per_page=100&ingested_after=${newest}`
    const { json } = await ask(`${api.base()}${path}`, secret)
    t.same(json.articles.map((article: { title: string }) => article.title).sort(), titles.sort())
    t.match(
      await archive.untilArchived(server.query),
      /^00000002/,
      'it archives a timeline of its own',
    )
  },
)

t.test('the last two base backups are kept, and the log since the older one', async t => {
  const firstFile = (await archive.files()).sort()[0] ?? ''
  const [oldest] = await archive.backups()
  for (let wanted = 2; wanted <= 3; wanted++) {
    // Two of the same second would have the same name.
    await until(async () => archive.backUp(server.url).then(() => true), 60_000)
  }
  const left = await archive.backups()
  t.equal(left.length, 2)
  t.notOk(left.includes(oldest ?? ''))
  const label = await readFile(join(archive.folder, 'base', left[0] ?? '', 'backup_label'), 'utf8')
  const [, needed = ''] = /\(file ([0-9A-F]{24})\)/.exec(label) ?? []
  const log = (await archive.files()).filter(file => /^[0-9A-F]{24}$/.test(file))
  t.notOk(log.includes(firstFile))
  // The first eight characters are the timeline.
  t.ok(log.every(file => file.slice(8) >= needed.slice(8)))
})
