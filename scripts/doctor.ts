import { existsSync } from 'node:fs'
import { trustProxy } from '#services/api/http/trust-proxy'
import { addressRule } from '#shared/addresses'
import { type Config, settingsInDoubt } from '#shared/config/config'
import type { Cause } from '#shared/figures'
import { printableLine } from '#shared/log/printable'
import type { Pool } from '#shared/postgres/pool'
import { runCommand, sentenceOf } from '#shared/process/command'
import { usesRedis } from '#shared/queues/redis'
import { unsetOf } from '#status/cause-watch'
import { causesOf, checksOf, type Facts, FIRST, isWithoutDatabase } from '#status/causes'
import {
  ageOfBackup,
  BACKUP_OLD,
  folderFaults,
  folderStates,
  readSurroundings,
} from '#status/surroundings'
import { span } from '#status/words'
import { notTakenOut } from './backup/removals.ts'
import { factsNow, NOTHING } from './terminal/causes.ts'
import { columns } from './terminal/terminal.ts'
import { lastVerification } from './verify/record.ts'

/** Every check, and its sentence when it finds no fault. */
const CHECKS: Record<string, string> = {
  settings: 'services start with these settings',
  database: 'Postgres answers and can be written',
  migrations: 'the database has the schema of this checkout',
  disk: 'DATA_DIR and Postgres have room',
  index: 'the segments of the index fit together',
  verified: 'nothing differed when the index was last verified',
  memory: 'the machine has memory left',
  clock: "this machine's clock agrees with the database's",
  names: 'names resolve, and no false ones do',
  network: 'outlets can be reached',
  qdrant: 'Qdrant answers',
  model: 'the model answers',
  queues: 'messages are taken',
  services:
    'API, crawler, normaliser, embedder, and a notifier for alerts run, in the present version',
  mail: 'the mail server answers',
  alerts: 'alerts are told',
  articles: 'articles come in',
  normaliser: 'no page waits for long',
  embedder: 'no article waits for its vector for long',
  removals: 'what was taken out is in no store',
  looks: 'what pages answer that are asked for again is judged',
  back: 'back-fills go on',
  outlets: 'outlets give their pages',
  ends: 'nothing ends processes',
  quarantine: 'nothing failed on our side',
  backup: 'the newest backup is not old',
  certificates: 'no certificate ends soon',
  machines: 'standbys, nodes and archives are well',
}

/** A busy machine connects late. */
const PATIENT = {
  max: 4,
  mayBeStandby: true,
  connectTimeout: 15_000,
  statementTimeout: 10_000,
} as const

const MARKS = { ok: 'ok', warn: 'warn', bad: 'FAIL', unknown: '–' }

interface Row {
  check: string
  level: Cause['level'] | 'ok' | 'unknown'
  text: string
}

await runCommand(
  {
    name: 'doctor',
    about: [
      'Runs every check once: servers, schema, disk, memory, clock, network, services, outlets. Each line says what is wrong and',
      'why, and the first thing to do; – is what could not be looked at. Exit code: 1 when a check has failed, else 0; a',
      'warning is no failure.',
    ].join('\n'),
    usage: ['', '[--json]'],
    options: { json: { about: 'prints {"ok", "checks": [{"check", "level", "text"}]}' } },
    beside: true,
  },
  async ({ config, options, print, openPool }) => {
    const backups = await readBackups(config.BACKUP_FOLDERS)
    const pool = config.DATABASE_URL === '' ? null : openPool(PATIENT)
    const facts = await (pool === null
      ? factsWithoutDatabase(config)
      : factsNow(config, pool, true))
    const found = [...(pool === null ? [withoutDatabase(config)] : []), ...causesOf(facts)]
    const reached = found.some(isWithoutDatabase) ? null : pool
    const causes = [
      ...causesOfSettings(config),
      ...found,
      ...(await causesOfBackups(reached, backups)),
    ]
    const verified = await rowOfVerification(reached)
    const unknown = unknownIn(facts, reached === null, config, backups)
    const rows = Object.entries(CHECKS).flatMap(([check, fine]): Row[] => {
      if (check === verified.check) return [verified]
      const found = causes.filter(cause => cause.check === check)
      if (found.length > 0) return found
      const why = unknown(check)
      return [
        why !== null
          ? { check, level: 'unknown', text: `not looked at: ${why}` }
          : { check, level: 'ok', text: fine },
      ]
    })
    const ok = rows.every(({ level }) => level !== 'bad')
    if (options.json) print(JSON.stringify({ ok, checks: rows }))
    else
      print(
        columns(rows.map(({ check, level, text }) => [MARKS[level], check, printableLine(text)])),
      )
    return ok ? 0 : 1
  },
)

/**
 * Returns a function that says why a check could not be made; null: it was made. Such a check found
 * no fault, but that does not mean that all is well.
 */
function unknownIn(
  { outlets, around, unread: late }: Facts,
  isAway: boolean,
  config: Config,
  { age, states }: Backups,
): (check: string) => string | null {
  const unread = late.flatMap(checksOf)
  const idle = outlets?.length === 0 && 'no outlet is in the catalogue'
  const asked =
    config.DATABASE_URL === '' ? [] : ['qdrant', 'model', ...(usesRedis(config) ? ['queues'] : [])]
  const alone = ['settings', 'memory', 'mail', 'backup', ...asked]
  const closed = [...states].map(([folder, state]) => `${folder}: ${state}`).join(', ')
  const reasons: Record<string, string | false> = {
    names: idle || (around?.names?.asked === 0 && 'no feed of the catalogue has a name for a host'),
    network: idle,
    articles: idle,
    model: unsetOf(config).includes('EMBEDDINGS_URL') && 'EMBEDDINGS_URL is not set',
    mail: config.SMTP_URL === '' && 'SMTP_URL is not set, so alerts cannot go by mail',
    backup:
      age === null &&
      (closed === ''
        ? 'BACKUP_FOLDERS is not set'
        : `no folder of BACKUP_FOLDERS can be read here (${closed}): ask where the backups are, or mount them`),
  }
  return check =>
    reasons[check] ||
    (isAway && !alone.includes(check) && 'the database is away') ||
    (unread.includes(check) && 'the database answers too late') ||
    null
}

/**
 * What the last verification said. It is no cause of the status page: a new installation was never
 * verified, and nothing is wrong with it.
 */
async function rowOfVerification(pool: Pool | null): Promise<Row> {
  const unknown: Row = {
    check: 'verified',
    level: 'unknown',
    text: 'not looked at: run "npm run verify"',
  }
  const last = pool && (await lastVerification(pool).catch(() => null))
  return last === null
    ? unknown
    : { ...unknown, level: last.isWell ? 'ok' : 'warn', text: last.text }
}

/** Settings that one service alone reads, and that would stop it, or serve it badly. */
function causesOfSettings(config: Config): Cause[] {
  const warn = (text: string): Cause => ({ check: 'settings', level: 'warn', text })
  const stops = [
    () => trustProxy(config.TRUST_PROXY),
    () => addressRule(config.CRAWL_ALLOW_PRIVATE, config.CRAWL_PORTS),
  ].flatMap((read): Cause[] => {
    try {
      read()
      return []
    } catch (error) {
      return [{ ...warn(sentenceOf(error)), level: 'bad' }]
    }
  })
  return [...stops, ...settingsInDoubt(config).map(warn)]
}

/** The folders of BACKUP_FOLDERS as this machine has them, and the age of the newest backup. */
interface Backups {
  age: number | null
  states: Awaited<ReturnType<typeof folderStates>>
}

async function readBackups(folders: readonly string[]): Promise<Backups> {
  return { age: await ageOfBackup(folders), states: await folderStates(folders) }
}

/**
 * What is wrong with backups and the lists beside them. They lie on one machine of a fleet, and its
 * operator may read them, so the pages of status do not look there.
 */
async function causesOfBackups(pool: Pool | null, { age, states }: Backups): Promise<Cause[]> {
  const warn = (text: string): Cause => ({ check: 'backup', level: 'warn', text })
  const told =
    age === Infinity
      ? 'There is no backup in BACKUP_FOLDERS'
      : `The newest backup in BACKUP_FOLDERS is ${span(age ?? 0)} old`
  const isKnown = age !== null && ![...states.values()].includes('silent')
  const causes = [
    ...(isKnown && age > BACKUP_OLD ? [warn(`${told}: ${FIRST.backup}.`)] : []),
    ...folderFaults(states).map(warn),
  ]
  const folders = [...states.keys()].filter(folder => states.get(folder) !== 'silent')
  if (pool === null || folders.length === 0) return causes
  const relapsed = await notTakenOut(pool, folders).catch(() => null)
  return relapsed === null
    ? causes
    : [...causes, { check: 'removals', level: 'bad', text: `${relapsed}: ${FIRST.relapsed}.` }]
}

async function factsWithoutDatabase(config: Config): Promise<Facts> {
  const around = await readSurroundings(config, null, { thoroughly: true })
  return { ...NOTHING, at: new Date().toISOString(), around }
}

function withoutDatabase(config: Config): Cause {
  const text = `DATABASE_URL is not set: set it, or leave "npm start" running on ${config.DATA_DIR}${existsSync(config.DATA_DIR) ? '' : ', which does not exist'}.`
  return { check: 'database', level: 'bad', text }
}
