import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'
import { readConfig } from '#shared/config/config'
import { createLogger } from '#shared/log/logger'
import { createPool } from '#shared/postgres/pool'
import { sentenceOf } from '#shared/process/command'
import { createBoss } from '#shared/queues/boss'
import { openQueues } from '#shared/queues/queues'
import { openVectorStore } from '#shared/vectors/qdrant-store'
import { ask } from '#test/contract/api'
import { createFleet, until } from '#test/fleet'
import { startSecured } from './secured.ts'

const has = (program: string, version = /./) => {
  try {
    return version.test(execFileSync(program, ['--version'], { encoding: 'utf8' }))
  } catch {
    return false
  }
}
const hasOwnTools = ['pg_dump', 'pg_restore'].every(tool => has(tool, /\(PostgreSQL\) 18\./))
const lacking = ['redis-server', 'redis-cli', 'curl'].filter(program => !has(program))
const skip = lacking.length > 0 && `no ${lacking.join(', ')} on this machine`

t.test(
  'Postgres, Redis and Qdrant that take TLS alone, with a private authority',
  { skip },
  async t => {
    const { settings, otherAuthority } = await startSecured(t)

    await t.test('commands and services work: migrations, queues, vectors, backup', async t => {
      const fleet = createFleet(settings, t)
      await fleet.script('migrate')
      for (const service of ['crawler', 'normaliser', 'embedder'] as const)
        await fleet.start(service)
      await fleet.start('api')
      const health = async () => (await ask(`${fleet.base()}/readyz`, null)).json
      const lacks = async (name: string) => (await health()).missing.includes(name)
      await until(async () => !(await lacks('vectors')), 60_000)
      t.notOk(await lacks('postgres'))
      await until(
        () =>
          fleet.members.every(
            ({ log, service }) => service === 'api' || /"msg":"started"/.test(log()),
          ),
        60_000,
      )
      for (const { log } of fleet.members)
        t.notMatch(log(), /certificate|out of reach|lost connections/)
      const status = JSON.parse(await fleet.script('status', '--json'))
      t.equal(status.queues.normalise.waiting, 0)
      t.match(status.machines, {
        redis: { role: 'master' },
        vectors: { nodes: [] },
        postgres: { role: 'primary' },
      })
      await fleet.script('queues', 'drain', 'normalise')
      await fleet.stop()
      const file = join(t.testdir({}), 'whole.backup')
      const backup = fleet.script('backup', file)
      // The programs that the project brings itself know no TLS.
      if (hasOwnTools) {
        await backup
        await fleet.script('restore', file, '--yes')
      } else await t.rejects(backup, { message: /asks for TLS.*install pg_dump and pg_restore/ })
    })

    await t.test('queues in Postgres too', async t => {
      const config = readConfig({ ...settings, REDIS_URL: '' })
      const queues = openQueues(config, createLogger('test', 'silent'))
      const seen: string[] = []
      const worker = queues.work('normalise', async ({ pageNo }) => void seen.push(pageNo), {
        concurrency: 1,
      })
      await queues.add('normalise', [{ key: 'a', data: { pageNo: 'a' } }])
      await until(() => seen.length === 1, 60_000)
      await worker.close()
      await queues.close()
      t.same(seen, ['a'])
    })

    await t.test(
      'another authority, none, and a host that the certificate does not name are refused',
      async t => {
        const renamed = Object.fromEntries(
          Object.entries(settings).map(([name, value]) => [
            name,
            value.replace('127.0.0.1', 'localhost'),
          ]),
        )
        for (const [wrong, said] of [
          [
            { ...settings, TLS_CA_FILE: otherAuthority },
            /authority that is not trusted.*TLS_CA_FILE/,
          ],
          [{ ...settings, TLS_CA_FILE: '' }, /authority that is not trusted.*TLS_CA_FILE/],
          [renamed, /not for the host localhost; write a host/],
        ] as const) {
          const refused = await refusals(wrong)
          for (const [server, sentence] of Object.entries(refused)) t.match(sentence, said, server)
          t.equal(Object.keys(refused).length, 4)
        }
      },
    )
    await t.test('a command says it in its last line', async t => {
      const fleet = createFleet({ ...settings, TLS_CA_FILE: otherAuthority })
      const said = await fleet.script('status').catch((error: Error) => error.message)
      t.match(said, /^status: The server's certificate is of an authority that is not trusted/m)
    })
  },
)

/** Of a command, what it wrote. */
const wordsOf = (error: Error) => ('stderr' in error ? String(error.stderr) : sentenceOf(error))

/** What each kind of connection says, by its server. */
async function refusals(env: Record<string, string>): Promise<Record<string, string>> {
  const config = readConfig(env)
  const failure = (work: Promise<unknown>) => work.then(() => 'it was let in', wordsOf)
  const pool = createPool(config.DATABASE_URL, 'test', () => {})
  const boss = createBoss(config.DATABASE_URL, () => {})
  const found = {
    pool: await failure(pool.query('select 1')),
    boss: await failure(boss.start()),
    vectors: await failure(openVectorStore(config, 5_000).ping()),
    redis: await failure(createFleet(env).script('queues', 'drain', 'normalise')),
  }
  await pool.end()
  await boss.stop({ graceful: false }).catch(() => {})
  return found
}
