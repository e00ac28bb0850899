import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chown, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import type { Test } from 'tap'
import { qdrantPackage } from '#infra/embedded/servers'
import { type Certified, certify } from '#test/crawler/certificates'
import { freePort, until } from '#test/fleet'
import { openBox } from '#test/fleet/hosts/box'
import type { Host } from '#test/fleet/hosts/host'
import { startTestServers } from '#test/servers'

/** Certificates name this host, and not `localhost`, which leads to the same servers. */
export const HOST = '127.0.0.1'
const START_MS = 60_000

interface Files {
  certificate: string
  key: string
  authority: string
  otherAuthority: string
  server: Certified
}

export interface SecuredServers {
  settings: {
    TLS_CA_FILE: string
    QDRANT_URL: string
    QDRANT_API_KEY: string
    REDIS_URL: string
    DATABASE_URL: string
  }
  otherAuthority: string
}

/**
 * Starts real servers that take TLS alone, with certificates of a private authority. They end with
 * the test.
 *
 * @returns otherAuthority the file of another authority, which has signed none of them
 */
export async function startSecured(test: Pick<Test, 'teardown'>): Promise<SecuredServers> {
  const box = await openBox(() => {}, 'loopback')
  test.teardown(() => box.close(false))
  const host = await box.addHost('secured')
  const files = await writeCertificates(box.folder)
  const postgres = await startPostgres(files, box.folder)
  test.teardown(postgres.stop)
  const { authority, otherAuthority } = files
  const redis = await startRedis(files, host)
  const qdrant = await startQdrant(files, host)
  return {
    settings: { ...postgres.settings, ...redis, ...qdrant, TLS_CA_FILE: authority },
    otherAuthority,
  }
}

/** Writes the certificate of a server, its authority's, and that of another one into a folder. */
export async function writeCertificates(folder: string): Promise<Files> {
  const issuer = certify({ name: 'Private authority', issuer: null, authority: true })
  const server = certify({ name: 'Server', issuer, hosts: [HOST] })
  const certificate = join(folder, 'server.pem')
  const key = join(folder, 'server.key')
  const authority = join(folder, 'authority.pem')
  const otherAuthority = join(folder, 'other.pem')
  await writeFile(certificate, server.certificate)
  await writeFile(key, server.key, { mode: 0o600 })
  await writeFile(authority, issuer.certificate)
  await writeFile(
    otherAuthority,
    certify({ name: 'Other authority', issuer: null, authority: true }).certificate,
  )
  return { certificate, key, authority, otherAuthority, server }
}

async function startPostgres({ certificate, key }: Files, folder: string) {
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

async function startRedis({ certificate, key, authority }: Files, host: Host) {
  const port = await freePort()
  const password = randomBytes(16).toString('hex')
  const file = join(host.folder, 'redis.conf')
  await writeFile(file, `requirepass ${password}\n`, { mode: 0o600 })
  await host.start({
    name: 'redis',
    command: 'redis-server',
    args: [
      file,
      '--port',
      '0',
      '--tls-port',
      String(port),
      '--bind',
      HOST,
      '--tls-auth-clients',
      'no',
      '--tls-cert-file',
      certificate,
      '--tls-key-file',
      key,
      '--tls-ca-cert-file',
      authority,
      '--dir',
      host.folder,
      '--save',
      '',
      '--maxmemory-policy',
      'noeviction',
    ],
  })
  const tool = ['-h', HOST, '-p', String(port), '--tls', '--cacert', authority, 'ping']
  const env = { ...process.env, REDISCLI_AUTH: password }
  await until(
    () => execFileSync('redis-cli', tool, { encoding: 'utf8', env }).startsWith('PONG'),
    START_MS,
  )
  return { REDIS_URL: `rediss://:${password}@${HOST}:${port}` }
}

async function startQdrant({ certificate, key, authority }: Files, host: Host) {
  const port = await freePort()
  await host.start({
    name: 'qdrant',
    command: join(await qdrantPackage(), 'bin', 'qdrant'),
    args: ['--disable-telemetry'],
    env: {
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
  const ready = ['-sf', '--cacert', authority, `https://${HOST}:${port}/readyz`]
  await until(() => execFileSync('curl', ready, { encoding: 'utf8' }).length > 0, START_MS)
  return { QDRANT_URL: `https://${HOST}:${port}`, QDRANT_API_KEY: 'key' }
}
