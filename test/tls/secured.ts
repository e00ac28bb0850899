import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { appendFileSync } from 'node:fs'
import { chmod, chown, mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { qdrantPackage } from '../../infra/embedded/servers.ts'
import { certify } from '../crawler/certificates.ts'
import { freePort, until } from '../fleet.ts'
import { startTestServers } from '../servers.ts'

/** Real servers that take TLS alone, with certificates of a private authority. */
export interface Secured {
  /** DATABASE_URL, REDIS_URL, QDRANT_URL, QDRANT_API_KEY and TLS_CA_FILE. */
  settings: Record<string, string>
  /** The file of another authority, which has signed none of them. */
  otherAuthority: string
  stop(): Promise<void>
}

/** Certificates name this host, and not `localhost`, which leads to the same servers. */
export const HOST = '127.0.0.1'
const START_MS = 60_000

type Files = Awaited<ReturnType<typeof writeCertificates>>

export async function startSecured(): Promise<Secured> {
  const files = await writeCertificates()
  const { folder, otherAuthority } = files
  const postgres = await startPostgres(files)
  const redis = await startRedis(files)
  const qdrant = await startQdrant(files)
  return {
    settings: { ...postgres.settings, ...redis.settings, ...qdrant.settings, TLS_CA_FILE: files.authority },
    otherAuthority,
    async stop() {
      await Promise.all([end(redis.process), end(qdrant.process), postgres.stop()])
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Makes a folder with the certificate of a server, its authority's, and that of another one. */
export async function writeCertificates() {
  const folder = await mkdtemp(join(tmpdir(), 'perscope-tls-'))
  // As root the services run as another user.
  await chmod(folder, 0o755)
  const issuer = certify({ name: 'Private authority', issuer: null, authority: true })
  const server = certify({ name: 'Server', issuer, hosts: [HOST] })
  const [certificate, key] = [join(folder, 'server.pem'), join(folder, 'server.key')]
  const [authority, otherAuthority] = [join(folder, 'authority.pem'), join(folder, 'other.pem')]
  await writeFile(certificate, server.certificate)
  await writeFile(key, server.key, { mode: 0o600 })
  await writeFile(authority, issuer.certificate)
  await writeFile(otherAuthority, certify({ name: 'Other authority', issuer: null, authority: true }).certificate)
  return { folder, certificate, key, authority, otherAuthority, server }
}

async function startPostgres({ certificate, key, folder }: Files) {
  const servers = await startTestServers({ servers: ['postgres'] })
  const plain = servers.addresses.DATABASE_URL ?? ''
  const data = join(servers.dataDir, 'postgres')
  // Postgres wants a key that is its own.
  const own = join(folder, 'postgres.key')
  execFileSync('cp', [key, own])
  const { uid, gid } = await stat(data)
  await chown(own, uid, gid)
  const client = new pg.Client({ connectionString: servers.superuser })
  await client.connect()
  await client.query(`alter system set ssl_cert_file = '${certificate}'`)
  await client.query(`alter system set ssl_key_file = '${own}'`)
  await client.query('alter system set ssl = on')
  await writeFile(join(data, 'pg_hba.conf'), `hostssl all all ${HOST}/32 scram-sha-256\n`)
  await client.query('select pg_reload_conf()')
  await client.end()
  await until(() => refusesPlain(plain), START_MS)
  return { settings: { DATABASE_URL: `${plain}?sslmode=verify-full` }, stop: servers.stop }
}

async function refusesPlain(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 })
  return client.connect().then(
    () => client.end().then(() => false),
    (error: Error) => /no encryption/.test(error.message),
  )
}

async function startRedis({ certificate, key, authority, folder }: Files) {
  const [port, password] = [await freePort(), randomBytes(16).toString('hex')]
  const file = join(folder, 'redis.conf')
  await writeFile(file, `requirepass ${password}\n`, { mode: 0o600 })
  const child = spawn(
    'redis-server',
    [
      ...[file, '--port', '0', '--tls-port', String(port), '--bind', HOST, '--tls-auth-clients', 'no'],
      ...['--tls-cert-file', certificate, '--tls-key-file', key, '--tls-ca-cert-file', authority],
      ...['--dir', folder, '--save', '', '--maxmemory-policy', 'noeviction'],
    ],
    { stdio: 'ignore' },
  )
  const tool = ['-h', HOST, '-p', String(port), '--tls', '--cacert', authority, 'ping']
  const env = { ...process.env, REDISCLI_AUTH: password }
  await until(() => execFileSync('redis-cli', tool, { encoding: 'utf8', env }).startsWith('PONG'), START_MS)
  return { settings: { REDIS_URL: `rediss://:${password}@${HOST}:${port}` }, process: child }
}

async function startQdrant({ certificate, key, authority, folder }: Files) {
  const port = await freePort()
  const home = join(folder, 'qdrant')
  await mkdir(home)
  const binary = join(await qdrantPackage(), 'bin', 'qdrant')
  const child = spawn(binary, ['--disable-telemetry'], {
    cwd: home,
    stdio: ['ignore', 'ignore', 'pipe'],
    env: {
      PATH: process.env.PATH,
      QDRANT__LOG_LEVEL: 'WARN',
      QDRANT__SERVICE__HOST: HOST,
      QDRANT__SERVICE__HTTP_PORT: String(port),
      QDRANT__SERVICE__GRPC_PORT: String(await freePort()),
      QDRANT__SERVICE__API_KEY: 'key',
      QDRANT__SERVICE__ENABLE_TLS: 'true',
      QDRANT__TLS__CERT: certificate,
      QDRANT__TLS__KEY: key,
      QDRANT__TLS__CA_CERT: authority,
    },
  })
  child.stderr?.on('data', chunk => appendFileSync(join(folder, 'qdrant.log'), chunk))
  const ready = ['-sf', '--cacert', authority, `https://${HOST}:${port}/readyz`]
  await until(() => execFileSync('curl', ready, { encoding: 'utf8' }).length > 0, START_MS)
  return { settings: { QDRANT_URL: `https://${HOST}:${port}`, QDRANT_API_KEY: 'key' }, process: child }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return
  const gone = new Promise(resolve => child.once('exit', resolve))
  child.kill('SIGKILL')
  await gone
}
