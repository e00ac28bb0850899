import { spawn } from 'node:child_process'
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { PACKAGES } from '#clients/build'
import { postgresTools } from '#infra/embedded/postgres-tools'
import { until } from '#test/fleet'
import { openLink } from '#test/fleet/links/link'
import { createMachine } from '#test/recovery/server'
import { run } from '#test/script'
import { startTestServers } from '#test/servers'
import { type ComposeService, readCompose } from './compose.ts'
import { CHECKOUT, type Container, createContainer, type Process } from './image.ts'

/*
 * The services of docker-compose.yml, started from the built image beside real servers. Runs in a
 * network namespace of its own, where all ports of the file are free, and prints a line of JSON for
 * each thing that it checked: `{"check", "ok", "detail"}`.
 */

const PASSWORD = 'a1b2c3d4e5f6'
const LIMIT_MS = 120_000
const OURS = ['api', 'crawler', 'normaliser', 'embedder'] as const
const opened: (() => Promise<unknown>)[] = []

const say = (check: string, ok: boolean, detail: unknown = '') =>
  void process.stdout.write(
    `${JSON.stringify({ check, ok, detail: String(detail).slice(-2_000) })}\n`,
  )

const checkOf = ({ healthcheck }: ComposeService) => {
  const [kind, ...words] = healthcheck?.test ?? []
  return kind === 'CMD-SHELL' ? ['sh', '-c', ...words] : words
}

/** Whether a check of health passes within the limit, on this machine or in the container. */
async function becomesHealthy(
  service: ComposeService,
  ask: (words: string[]) => Promise<boolean>,
  isGone = () => false,
): Promise<boolean> {
  let isHealthy = false
  const asked = async () => {
    isHealthy = await ask(checkOf(service))
    return isHealthy || isGone()
  }
  await until(asked, LIMIT_MS).catch(() => {})
  return isHealthy
}

const here =
  (env: Record<string, string>) =>
  async ([program = '', ...words]: string[]) =>
    run(program, words, { env: { ...process.env, ...env } }).then(
      () => true,
      () => false,
    )

/** Postgres, Redis, Qdrant and the model at the addresses that the file names. */
async function startServers(folder: string): Promise<Record<string, ComposeService>> {
  const tools = await postgresTools(18, {
    tls: false,
    signal: new AbortController().signal,
    report: () => {},
  })
  const PATH = `${dirname(tools.pgDump)}:${process.env.PATH}`
  const machine = await createMachine(folder)
  await machine.initialise(join(folder, 'postgres'), 'postgres')
  const postgres = await machine.start(join(folder, 'postgres'), 'postgres', 5432)
  opened.push(() => postgres.stop())
  const servers = await startTestServers({ servers: ['qdrant', 'model'] })
  opened.push(() => servers.stop())
  const {
    QDRANT_URL = '',
    EMBEDDINGS_URL = '',
    QDRANT_API_KEY = '',
    EMBEDDINGS_API_KEY = '',
  } = servers.settings
  const services = readCompose({
    POSTGRES_PASSWORD: PASSWORD,
    REDIS_PASSWORD: PASSWORD,
    QDRANT_API_KEY,
    EMBEDDINGS_API_KEY,
    CRAWL_ALLOW_PRIVATE: '127.0.0.0/8',
    CRAWL_HOST_DELAY: '100ms',
    EMBED_DELAY: '0',
  })
  for (const name of ['redis', 'qdrant', 'embeddings'] as const)
    say(`${name} is dead before it starts`, !(await here({})(checkOf(services[name] ?? {}))))
  for (const [url, port] of [
    [QDRANT_URL, 6333],
    [EMBEDDINGS_URL, 80],
  ] as const) {
    const to = { address: '127.0.0.1', port: Number(new URL(url).port) }
    const link = await openLink({ address: '127.0.0.1', port }, to)
    opened.push(() => link.close())
  }
  const account = { PATH, PGHOST: '127.0.0.1', ...services.postgres?.environment }
  await run('bash', [join(CHECKOUT, 'infra/postgres-account.sh')], {
    env: { ...process.env, ...account },
  })
  const [program = '', ...words] = services.redis?.command ?? []
  const redis = spawn(program, [...words, '--dir', folder], { stdio: 'ignore' })
  opened.push(async () => redis.kill())
  for (const name of ['postgres', 'redis', 'qdrant', 'embeddings'] as const) {
    const service = services[name] ?? {}
    say(`${name} is healthy`, await becomesHealthy(service, here({ PATH, ...service.environment })))
  }
  return services
}

/** Starts each service by itself: it becomes healthy by the file's own check, and ends in order. */
async function startOneByOne(
  container: Container,
  services: Record<string, ComposeService>,
): Promise<void> {
  const migrate = container.start(
    services.migrate?.command ?? [],
    services.migrate?.environment ?? {},
  )
  say('migrate ends well', (await migrate.ended) === 0, migrate.log())
  for (const name of OURS) {
    const service = services[name] ?? {}
    const began = Date.now()
    const one = container.start(service.command ?? [], service.environment ?? {})
    const ask = async (words: string[]) => (await container.start(words, {}).ended) === 0
    const isHealthy = await becomesHealthy(service, ask, () => one.code() !== null)
    say(`${name} is healthy`, isHealthy, one.log())
    if (!isHealthy) throw new Error(`${name} does not become healthy.`)
    say(`${name}: seconds to a first answer`, true, ((Date.now() - began) / 1_000).toFixed(1))
    const code = await one.stop()
    say(`${name} ends with 0 or 143`, code === 0 || code === 143, `${code} ${one.log()}`)
    say(`${name} is dead to its own check`, !(await ask(checkOf(service))))
  }
}

/**
 * A fleet of one each indexes the sample outlets and answers a search; every command does its work.
 */
async function useFleet(
  container: Container,
  services: Record<string, ComposeService>,
  exchange: string,
) {
  const env = { ...services.api?.environment, HOST: '127.0.0.1' }
  const command = async (
    check: string,
    words: string[],
    isRight: (out: string) => boolean = () => true,
  ) => {
    const [file = '', ...rest] = words
    // As the guide's `perscope` does.
    const one = container.start(['npm', 'run', '-s', basename(file, '.ts'), '--', ...rest], env)
    const code = await one.ended
    say(check, code === 0 && isRight(one.out()), one.log())
    return one.out()
  }
  const processes: Process[] = [container.start(['node', 'infra/outlets/sample/server.ts'], {})]
  const [sample] = processes
  await until(() => /^}$/m.test(sample?.log() ?? ''), LIMIT_MS)
  await writeFile(join(exchange, 'outlets.json'), sample?.log() ?? '')
  await command('outlets sync', ['scripts/outlets.ts', 'sync', '/mnt/outlets.json'])
  // The services share the network here. Each needs a port of its own for metrics.
  for (const name of OURS) {
    processes.push(
      container.start(services[name]?.command ?? [], {
        ...services[name]?.environment,
        METRICS_PORT: '0',
      }),
    )
  }
  const made = await command('keys create', [
    'scripts/keys.ts',
    'create',
    ...'--name t --countries NL,BE,LU --history-days 9999 --rate 600'.split(' '),
  ])
  const { key } = JSON.parse(made)
  const search = async () => {
    const answer = await fetch('http://127.0.0.1:8080/v1/articles', {
      headers: { Authorization: `Bearer ${key}` },
    })
    const { total_results } = JSON.parse(await answer.text())
    return Number(total_results)
  }
  const isFound = await until(async () => (await search()) > 20, LIMIT_MS).then(
    () => true,
    () => false,
  )
  say(
    'the sample outlets are found',
    isFound,
    processes.map(one => one.log().slice(-500)).join('\n'),
  )
  for (const name of Object.keys(PACKAGES)) {
    const { status } = await fetch(`http://127.0.0.1:8080/clients/${name}`)
    say(`it serves ${name}`, status === 200, String(status))
  }
  await command('status', ['scripts/status.ts', '--json'], out => JSON.parse(out).articles > 20)
  const asking = { ...env, API_KEY: key, PUBLIC_URL: 'http://127.0.0.1:8080' }
  const poll = container.start(
    ['node', 'scripts/poll.ts', '--once', '--place', '/tmp/place'],
    asking,
  )
  say('poll', (await poll.ended) === 0 && poll.out() !== '', poll.log())
  await command('export', ['scripts/export.ts', '--body'], out => out.split('\n').length > 20)
  const exported = await command('export again', ['scripts/export.ts', '--body'])
  await writeFile(join(exchange, 'articles.ndjson'), exported)
  await command('import', ['scripts/import.ts', '/mnt/articles.ndjson'])
  await command('explain', ['scripts/explain.ts', JSON.parse(exported.split('\n')[0] ?? '').id])
  for (const name of ['queues', 'keys', 'outlets'])
    await command(`${name} list`, [`scripts/${name}.ts`, 'list'])
  await command('reindex', ['scripts/reindex.ts'])
  await command(
    'backup',
    ['scripts/backup.ts', '/mnt/whole.backup', '--json'],
    out => JSON.parse(out).articles > 20,
  )
  const refused = container.start(['node', 'scripts/backup.ts', 'whole.backup'], env)
  const isRefused =
    (await refused.ended) === 1 && refused.log().includes('in a container one in a mounted folder')
  say('a backup without a mounted folder says what to do', isRefused, refused.log())
  for (const one of processes.reverse()) await one.stop()
  await command('restore', ['scripts/restore.ts', '/mnt/whole.backup', '--yes', '--json'])
  await command('recovered', ['scripts/recovered.ts', '--json'])
}

const folder = await mkdtemp(join(tmpdir(), 'perscope-compose-'))
await chmod(folder, 0o755)
const exchange = join(folder, 'exchange')
await mkdir(exchange)
await chmod(exchange, 0o777)
const hosts = join(folder, 'hosts')
await writeFile(hosts, '127.0.0.1 localhost postgres redis qdrant embeddings\n')
const container = await createContainer(hosts, exchange)
try {
  say('size in MB', true, container.size())
  const services = await startServers(folder)
  await startOneByOne(container, services)
  await useFleet(container, services, exchange)
} finally {
  for (const close of opened.reverse()) await close()
  await container.remove()
  await rm(folder, { recursive: true, force: true })
}
process.exit(0)
