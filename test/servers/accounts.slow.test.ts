import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { isFree } from '#infra/embedded/data-directory'
import { migrate } from '#infra/migrations/migrate'
import { ACCOUNTS } from '#shared/process/privileges'
import { ask } from '#test/database'
import { createFleet, heard, until } from '#test/fleet'
import { CHECKOUT, descendants, rootOnly, runServers, temporaryFolder } from './running.ts'

const folder = temporaryFolder(t)
const dataDir = join(folder, 'data')
const servers = runServers(dataDir)
t.teardown(servers.stop)
const addresses = await servers.addresses()
const { DATABASE_URL = '', QDRANT_URL = '', EMBEDDINGS_URL = '' } = addresses
await migrate(DATABASE_URL)

/** Real, effective, saved and file system's, as /proc has them. */
function idsOf(pid: number | undefined, kind: 'Uid' | 'Gid' | 'Groups'): string[] {
  const line = readFileSync(`/proc/${pid}/status`, 'utf8').match(new RegExp(`^${kind}:(.*)$`, 'm'))
  return (line?.[1] ?? '').trim().split(/\s+/).filter(Boolean)
}

const child = (command: RegExp) =>
  descendants(servers.pid).find(seen => command.test(seen.command))?.pid

/** A service as an operator starts it by hand; resolves once it has said that it runs. */
async function service(
  test: Test,
  env: Record<string, string>,
  options: string[],
): Promise<[ChildProcess, string]> {
  const started = spawn(process.execPath, options, {
    env: { ...process.env, ...addresses, DATA_DIR: dataDir, REDIS_URL: '', ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  test.teardown(() => started.kill('SIGKILL'))
  const log = heard(started.stderr)
  await until(() => log().includes('"msg":"started"'), 60_000, log)
  return [started, log()]
}

async function freeLowPort(): Promise<number> {
  for (let port = 1_000; port > 500; port--) if (await isFree(port)) return port
  throw new Error('no port below 1000 is free')
}

t.test(
  'the vector store and the model ask for keys, which lie in files for their owner alone',
  async t => {
    t.same(Object.keys(addresses).sort(), [
      'DATABASE_URL',
      'EMBEDDINGS_API_KEY',
      'EMBEDDINGS_URL',
      'QDRANT_API_KEY',
      'QDRANT_URL',
    ])
    const keys = ['qdrant.key', 'model.key'].map(name => {
      t.equal(statSync(join(dataDir, name)).mode & 0o777, 0o600)
      return readFileSync(join(dataDir, name), 'utf8').trim()
    })
    t.ok(keys.every(key => key.length >= 32) && keys[0] !== keys[1])
    const [qdrantKey = '', modelKey = ''] = keys
    const qdrant = async (key: string) =>
      (await fetch(`${QDRANT_URL}/collections`, { headers: { 'api-key': key } })).status
    const model = async (key: string, method = 'POST', path = '/v1/embeddings') => {
      const body = method === 'POST' ? { body: JSON.stringify({ input: ['a'] }) } : {}
      const headers = { authorization: `Bearer ${key}` }
      return (await fetch(new URL(path, EMBEDDINGS_URL), { method, headers, ...body })).status
    }
    t.same(
      await Promise.all(['', modelKey, `${qdrantKey}x`, qdrantKey].map(qdrant)),
      [401, 401, 401, 200],
    )
    t.same(
      await Promise.all(
        ['', qdrantKey, modelKey.slice(1), 'ключ', modelKey].map(key => model(encodeURI(key))),
      ),
      [401, 401, 401, 401, 200],
    )
    t.equal(await model('', 'GET', '/v1/models'), 401)
    t.equal(await model('', 'GET', '/health'), 200, 'whether it is well may be asked by all')
  },
)

t.test('services find the keys with DATA_DIR and the addresses alone', async t => {
  const fleet = createFleet({
    ...addresses,
    DATA_DIR: dataDir,
    EMBED_DELAY: '0',
    QDRANT_API_KEY: '',
    EMBEDDINGS_API_KEY: '',
  })
  t.teardown(() => fleet.stop())
  const file = join(folder, 'one.ndjson')
  const outlet = { name: 'De Dagkoerier', domain: 'dagkoerier.example' }
  const article = {
    url: 'https://dagkoerier.example/1',
    title: 'Een brug',
    body: 'De brug is open.',
    outlet,
  }
  writeFileSync(
    file,
    `${JSON.stringify({ ...article, language: 'nl', country: 'NL', published_at: null })}\n`,
  )
  await fleet.script('import', file)
  await fleet.start('embedder')
  await until(
    async () =>
      (await ask(DATABASE_URL, 'select from embeddings where embedded_at is not null')).length ===
      1,
    60_000,
    fleet.logs,
  )
  t.pass('the article went through model and vector store')
})

t.test('as root every part has an account of its own', rootOnly, async t => {
  const [crawler] = await service(t, {}, [join(CHECKOUT, 'services/crawler/main.ts')])
  const pids = {
    services: crawler.pid,
    qdrant: child(/bin\/qdrant /),
    model: child(/serve\.py/),
    postgres: child(/bin\/postgres /),
  }
  for (const name of ['services', 'qdrant', 'model'] as const) {
    const id = String(ACCOUNTS[name])
    t.same(idsOf(pids[name], 'Uid'), [id, id, id, id], `user of ${name}`)
    t.same(idsOf(pids[name], 'Gid'), [id, id, id, id], `group of ${name}`)
    t.same(idsOf(pids[name], 'Groups'), [], `no other group of ${name}`)
  }
  const users = Object.values(pids).map(pid => idsOf(pid, 'Uid')[0])
  t.notOk(users.includes('0'), 'none is root')
  t.equal(new Set(users).size, 4, 'no two are the same')
})

t.test(
  'as root in a checkout that is closed to others, a service says so and runs',
  rootOnly,
  async t => {
    const closed = mkdtempSync(join(tmpdir(), 'perscope-closed-'))
    t.teardown(() => rmSync(closed, { recursive: true, force: true }))
    for (const name of [
      'services',
      'status',
      'search',
      'shared',
      'infra',
      'node_modules',
      'package.json',
    ]) {
      symlinkSync(join(CHECKOUT, name), join(closed, name))
    }
    const main = join(closed, 'services/crawler/main.ts')
    const options = ['--preserve-symlinks', '--preserve-symlinks-main', main]
    const [staysRoot, log] = await service(t, {}, options)
    t.equal(idsOf(staysRoot.pid, 'Uid')[0], '0')
    t.match(log, `Root's rights stay: the account ${ACCOUNTS.services}`)
    t.match(log, `cannot read ${closed}; run \\"chmod o+rx ${closed}\\"`, 'with what to do')

    chmodSync(closed, 0o755)
    const [dropped] = await service(t, {}, options)
    t.equal(idsOf(dropped.pid, 'Uid')[0], String(ACCOUNTS.services), 'which helps')
  },
)

t.test(
  'a service started by root on a low port gives up its rights once it listens',
  rootOnly,
  async t => {
    const [api] = await service(t, { PORT: String(await freeLowPort()), HOST: '127.0.0.1' }, [
      join(CHECKOUT, 'services/api/main.ts'),
    ])
    t.equal(idsOf(api.pid, 'Uid')[0], String(ACCOUNTS.services))
    api.kill('SIGTERM')
    const [code] = await once(api, 'exit')
    t.equal(code, 0, 'and ends as ever')
  },
)
