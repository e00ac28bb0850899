import { randomBytes } from 'node:crypto'
import { lookup } from 'node:dns/promises'
import { statSync } from 'node:fs'
import { access, constants, readdir, stat, statfs } from 'node:fs/promises'
import { isIP } from 'node:net'
import { totalmem } from 'node:os'
import { join } from 'node:path'
import { connect, TLSSocket } from 'node:tls'
import { glanceAtArchive } from '#search/archive/state'
import { glanceAtIndex } from '#search/verify'
import { glanceAtRules } from '#shared/articles/rules'
import type { Config } from '#shared/config/config'
import type { Surroundings } from '#shared/figures'
import type { Logger } from '#shared/log/logger'
import { figure, shared } from '#shared/metrics'
import { missingFiles } from '#shared/postgres/migrations'
import { type Pool, readColumn, readValue, SCHEMA } from '#shared/postgres/pool'
import { folderAnswers } from '#shared/resilience/folders'
import { withTimeLimit } from '#shared/resilience/time-limit'
import { FIRST } from './causes.ts'

type SurroundingsConfig = Pick<
  Config,
  'DATA_DIR' | 'QDRANT_URL' | 'EMBEDDINGS_URL' | 'OPENSEARCH_URL' | 'PUBLIC_URL' | 'TLS_CA_FILE'
>

/** The most ms for one look-up or connection. A reading may take twice as long. */
const PATIENCE = 4_000
/** The names of at most this many hosts of outlets are resolved. */
const NAMES = 5

/**
 * Reads the surroundings of this process: its disk, memory, clock, the names of outlets, the
 * schema, the index.
 *
 * @param pool null: there is no database
 * @param options.hosts the hosts of feeds; absent: read from the database
 * @param options.thoroughly also reads certificates
 */
export async function readSurroundings(
  config: SurroundingsConfig,
  pool: Pool | null,
  options: { hosts?: string[]; thoroughly?: boolean } = {},
): Promise<Surroundings> {
  const orNull = <T>(reading: Promise<T> | undefined): Promise<T | null> =>
    withTimeLimit(
      Promise.resolve(reading ?? null).catch(() => null),
      PATIENCE * 2,
      () => null,
    )
  const ofPool = <T>(read: (pool: Pool) => Promise<T>) =>
    orNull(pool === null ? undefined : read(pool))
  const thoroughly = options.thoroughly === true
  const [disk, clockAhead, names, schema, databaseFull, index, rules, certificates] =
    await Promise.all([
      orNull(readDisk(config.DATA_DIR)),
      ofPool(readClock),
      orNull(pool === null && !options.hosts ? undefined : readNames(options.hosts ?? pool)),
      ofPool(readSchema),
      ofPool(isFull),
      ofPool(glance),
      ofPool(glanceAtRules),
      orNull(thoroughly ? readCertificates(config, pool) : Promise.resolve([])),
    ])
  const memory = {
    free: process.availableMemory(),
    total: process.constrainedMemory() || totalmem(),
  }
  memory.total = Math.min(memory.total, totalmem())
  return {
    disk,
    memory,
    clockAhead,
    names,
    schema,
    databaseFull,
    index,
    rules,
    certificates,
  }
}

/**
 * The first reading of each folder. The rate at which its disk fills is measured from this reading
 * on.
 */
const first = new Map<string, { free: number; at: number; ino: number }>()
/** The fewest ms between two readings from which a rate is computed. */
const LEAST_MEASURED = 1_800_000

const glance = async (pool: Pool) => [
  ...(await glanceAtIndex(pool)),
  ...(await glanceAtArchive(pool)),
]

async function readDisk(folder: string): Promise<Surroundings['disk']> {
  const ino = statSync(folder, { throwIfNoEntry: false })?.ino
  const known = first.get(folder)
  if (known !== undefined && ino !== known.ino) return { folder, free: 0, total: 0, daysLeft: null }
  if (ino === undefined) return null
  const { bavail, blocks, bsize } = await statfs(folder)
  const free = bavail * bsize
  const total = blocks * bsize
  const now = Date.now()
  const before = known ?? { free, at: now, ino }
  first.set(folder, before)
  const taken = before.free - free
  const daysLeft =
    now - before.at < LEAST_MEASURED || taken <= 0
      ? null
      : ((now - before.at) * free) / taken / 86_400_000
  return { folder, free, total, daysLeft }
}

/** Shows the disk of DATA_DIR as a metric. Its alarm says how many days are left. */
export function observeDisk(folder: string): void {
  const disk = shared(() => readDisk(folder))
  figure('disk_free_bytes', 'Free space on the disk of DATA_DIR.', disk, one => one?.free ?? null)
}

/** A nightly backup that failed once is made up for within this many seconds. */
export const BACKUP_OLD: number = 2 * 86_400

/**
 * How many seconds ago the newest backup was made: a file that ends with `.backup`, or a base
 * backup in the folder `base`.
 *
 * @returns infinity: there is none; null: no folder can be read, as on other machines of a fleet
 */
export async function ageOfBackup(folders: readonly string[]): Promise<number | null> {
  const newest = await Promise.all(
    folders.map(async folder => ((await folderAnswers(folder)) ? newestIn(folder) : null)),
  )
  const read = newest.filter(time => time !== null)
  return read.length === 0 ? null : Math.max(0, Date.now() - Math.max(...read)) / 1_000
}

/** When the newest backup of a folder was made; -infinity: it has none; null: it cannot be read. */
async function newestIn(folder: string): Promise<number | null> {
  const names = await readdir(folder).catch(() => null)
  if (names === null) return null
  const bases = await readdir(join(folder, 'base')).catch(() => [])
  const files = [
    ...names.filter(name => name.endsWith('.backup')),
    ...bases.filter(name => name.endsWith('Z')).map(name => join('base', name)),
  ]
  const times = [-Infinity]
  for (const file of files) {
    const found = await stat(join(folder, file)).catch(() => null)
    if (found !== null) times.push(found.mtimeMs)
  }
  return Math.max(...times)
}

/**
 * What this account meets at a folder of backups. `away`: this machine does not have it; `silent`:
 * it does not answer, as one of another machine that is away.
 */
type FolderState = 'open' | 'closed' | 'away' | 'silent'

export async function folderStates(
  folders: readonly string[],
): Promise<ReadonlyMap<string, FolderState>> {
  const states = folders.map(async folder => [folder, await stateOf(folder)] as const)
  return new Map(await Promise.all(states))
}

async function stateOf(folder: string): Promise<FolderState> {
  if (!(await folderAnswers(folder))) return 'silent'
  const codes: unknown[] = []
  for (const path of [folder, join(folder, 'base')]) {
    const failure = await access(path, constants.R_OK | constants.X_OK).catch(error => error)
    codes.push(failure?.code)
  }
  if (codes.includes('EACCES')) return 'closed'
  return codes[0] === undefined ? 'open' : 'away'
}

/**
 * What is wrong with folders of backups, a sentence each. All machines of a fleet have the same
 * settings. So where no folder can be read, and one is away, another machine has the backups. Where
 * one can be read, a closed one is fine: the archive of the log belongs to Postgres alone.
 */
export function folderFaults(states: ReadonlyMap<string, FolderState>): string[] {
  const all = [...states.values()]
  const isHere = all.includes('open')
  const isElsewhere = !isHere && all.includes('away')
  const isFine = { open: true, closed: isHere || isElsewhere, away: !isHere, silent: false }
  return [...states].flatMap(([folder, state]) =>
    isFine[state] ? [] : (SENTENCES[state]?.(folder) ?? []),
  )
}

const SENTENCES: Partial<Record<FolderState, (folder: string) => string>> = {
  closed: folder =>
    `Account ${process.getuid?.()} cannot read ${folder} of BACKUP_FOLDERS: ${FIRST.closed}.`,
  away: folder => `${folder} of BACKUP_FOLDERS is not on this machine: ${FIRST.away}.`,
  silent: folder => `${folder} of BACKUP_FOLDERS does not answer: ${FIRST.silent}.`,
}

/**
 * Shows the age of the newest backup as a metric, where this machine has one. Of a new system,
 * which has none yet, only doctor says so. The log also names folders that cannot be watched.
 */
export function observeBackup(folders: readonly string[], log: Logger): void {
  const faults = shared(async () => folderFaults(await folderStates(folders)), 60_000)
  void faults().then(sentences => {
    for (const sentence of sentences) log.warn(sentence)
  })
  figure(
    'backup_folders_closed',
    'Folders of BACKUP_FOLDERS that this machine should be able to read, and cannot.',
    faults,
    sentences => sentences.length,
  )
  figure(
    'backup_age_seconds',
    'Time since the newest backup in BACKUP_FOLDERS was made.',
    shared(() => ageOfBackup(folders), 60_000),
    age => (age === Infinity ? null : age),
  )
}

/**
 * How many seconds our clock is ahead of the database's clock. Our time is the middle between the
 * request and its answer.
 */
async function readClock(pool: Pool): Promise<number> {
  const asked = Date.now()
  const now = await readValue<Date>(pool, 'select clock_timestamp()')
  return ((asked + Date.now()) / 2 - now!.getTime()) / 1_000
}

async function readSchema(pool: Pool): Promise<Surroundings['schema']> {
  const isThere = "select to_regclass('migrations') is not null"
  const known = (await readValue<boolean>(pool, isThere))
    ? await readColumn<number>(pool, 'select number from migrations')
    : []
  const database = Math.max(0, ...known)
  return { database, checkout: SCHEMA, lacks: await missingFiles(known) }
}

/** Tries to write some pages to a temporary table. Postgres has the code 53100 for a full disk. */
async function isFull(pool: Pool): Promise<boolean> {
  try {
    await pool.query(
      'begin; create temp table perscope_probe on commit drop as select repeat(md5(n::text), 200) from generate_series(1, 100) n; rollback',
    )
    return false
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === '53100') return true
    throw error
  }
}

/** The hosts of a few feeds in the catalogue. */
async function hostsOfFeeds(pool: Pool): Promise<string[]> {
  const feeds = 'select url from feeds where active order by hashtext(url) limit 50'
  return (await readColumn<string>(pool, feeds)).map(url => new URL(url).hostname)
}

/** @param from the hosts, or the database that has them */
async function readNames(from: string[] | Pool | null): Promise<Surroundings['names']> {
  const hosts = from === null ? [] : Array.isArray(from) ? from : await hostsOfFeeds(from)
  const named = [...new Set(hosts)].filter(
    host => isIP(host.replace(/^\[|\]$/g, '')) === 0 && host !== 'localhost',
  )
  const asked = named.slice(0, NAMES)
  const nobody = `perscope-${randomBytes(6).toString('hex')}.invalid`
  const codes = await Promise.all((asked.length > 0 ? [...asked, nobody] : []).map(failureOfName))
  const failed = asked.filter((_, at) => codes[at] !== null)
  return {
    asked: asked.length,
    failed: failed.length,
    example: failed[0] ?? '',
    absent: asked.filter((_, at) => codes[at] === 'ENOTFOUND'),
    lie: asked.length > 0 && codes.at(-1) === null ? nobody : null,
  }
}

/**
 * Why the system's resolver finds no address; null: it finds one. The crawler uses the same
 * resolver. ENOTFOUND comes of a name server that works.
 */
const failureOfName = (host: string): Promise<string | null> =>
  withTimeLimit(
    lookup(host).then(
      () => null,
      error => String(error.code),
    ),
    PATIENCE,
    () => 'late',
  )

async function readCertificates(
  config: SurroundingsConfig,
  pool: Pool | null,
): Promise<Surroundings['certificates']> {
  const servers = [
    ...(['QDRANT_URL', 'EMBEDDINGS_URL', 'PUBLIC_URL'] as const).map(
      name => [name, config[name]] as const,
    ),
    ...config.OPENSEARCH_URL.map(url => ['OPENSEARCH_URL', url] as const),
  ].filter(([, url]) => url.startsWith('https:'))
  const ends = servers.map(async ([of, url]) => {
    const end = await endOfCertificate(new URL(url)).catch(() => null)
    return { of, end }
  })
  // Most databases on the same machine have none, and of one that is away its own check tells.
  const own = pool === null ? null : await endOfPostgres(pool).catch(() => null)
  const all = [
    ...(await Promise.all(ends)),
    ...(own === null ? [] : [{ of: 'DATABASE_URL', end: own }]),
  ]
  return all.map(({ of, end }) => ({
    of,
    daysLeft: end === null ? null : (end - Date.now()) / 86_400_000,
  }))
}

/** When a server's certificate ends, in ms since 1970. The signature is not checked. */
const endOfCertificate = ({ hostname, port }: URL): Promise<number | null> =>
  new Promise((resolve, reject) => {
    const host = hostname.replace(/^\[|\]$/g, '')
    const name = isIP(host) === 0 ? { servername: host } : {}
    const socket = connect({
      host,
      port: Number(port || 443),
      ...name,
      rejectUnauthorized: false,
      timeout: PATIENCE,
    })
    socket.once('secureConnect', () => {
      resolve(endOf(socket))
      socket.destroy()
    })
    socket.once('timeout', () => socket.destroy(new Error('no answer')))
    socket.on('error', reject)
  })

async function endOfPostgres(pool: Pool): Promise<number | null> {
  const client = await pool.connect()
  try {
    const connection: unknown = Reflect.get(client, 'connection')
    const stream: unknown =
      typeof connection === 'object' && connection !== null
        ? Reflect.get(connection, 'stream')
        : null
    return stream instanceof TLSSocket ? endOf(stream) : null
  } finally {
    client.release()
  }
}

function endOf(socket: TLSSocket): number | null {
  const end = Date.parse(socket.getPeerCertificate().valid_to ?? '')
  return Number.isNaN(end) ? null : end
}
