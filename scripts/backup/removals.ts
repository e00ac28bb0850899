import { constants } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { ListedRemoval } from '../../search/types.ts'
import type { Config } from '../../shared/config/config.ts'
import { counted, printableLine } from '../../shared/log/printable.ts'
import { type Pool, readValue } from '../../shared/postgres/pool.ts'
import { sentenceOf } from '../../shared/process/command.ts'
import { clearRemoved, removeAgain } from '../../shared/removals/remove.ts'
import { openStores } from '../../shared/removals/stores.ts'

/*
 * The list of removals beside backups. A backup is older than the removals after it, and so has
 * their articles; the list takes them out again after a restore. It has one tombstone a line, and
 * of an article that has several lines the last one counts.
 *
 * Whoever writes adds all lines that the database makes and the file lacks. So a removal whose
 * command was killed before it wrote is listed by the next one, and a new folder gets all.
 *
 * Hashes of addresses are worth nothing without their key, and a backup of before the first removal
 * may have none or another. So each line has the key. It tells no more than the backups beside it,
 * which have the key, too; and like them only its owner may read it.
 */

const NAME = 'removals.perscope.ndjson'
/** The most characters of a line: an article has some addresses, of 67 characters each. */
const MOST_LINE = 100_000

const LINES = `
  select json_build_object(
      'installation', i.id, 'number', t.number, 'id', t.id, 'country', t.country,
      'covered_at', t.covered_at, 'removed_at', t.removed_at, 'released_at', t.released_at,
      'reason', t.reason, 'key', encode(k.inner_pad || k.outer_pad, 'hex'),
      'hashes', array(select encode(hash, 'hex') from tombstone_addresses a where a.seq = t.seq order by hash)
    )::text as line, t.number
    from tombstones t, tombstone_key k, installation i where t.number > $1 order by t.number limit 1000`

/**
 * Adds to the list of each folder what it lacks.
 *
 * @returns false: a folder could not be written to
 */
export async function listRemovals(
  pool: Pool,
  folders: readonly string[],
  say: (sentence: string) => void,
): Promise<boolean> {
  if (folders.length === 0)
    say('BACKUP_FOLDERS is not set: a restore of an older backup brings what was taken out back.')
  let isListed = true
  for (const folder of folders) {
    await addLines(pool, join(folder, NAME)).catch(error => {
      isListed = false
      say(
        `The list of removals in ${folder} was not written (${sentenceOf(error)}); mend it, and run the same command again.`,
      )
    })
  }
  return isListed
}

async function addLines(pool: Pool, path: string): Promise<void> {
  const { O_RDWR, O_APPEND, O_CREAT } = constants
  await using file = await open(path, O_RDWR | O_APPEND | O_CREAT, 0o600)
  // Backups may run under an account of their own, which writes the list, too.
  const { uid, gid } = await stat(dirname(path))
  if (process.getuid?.() === 0) await file.chown(uid, gid)
  const bytes = await file.readFile('utf8')
  const known = new Set(bytes.split('\n'))
  const lines: string[] = []
  for (let after: bigint | undefined = 0n; after !== undefined; ) {
    const { rows }: { rows: { line: string; number: bigint }[] } = await pool.query(LINES, [after])
    for (const { line } of rows) if (!known.has(line)) lines.push(line)
    after = rows.at(-1)?.number
  }
  if (lines.length === 0) return
  // A line that a full disk cut stays alone, and is written again as a whole. One write in this
  // mode is whole also beside others.
  const cut = bytes === '' || bytes.endsWith('\n') ? '' : '\n'
  const part = Buffer.from(`${cut}${lines.join('\n')}\n`)
  const { bytesWritten } = await file.write(part)
  if (bytesWritten < part.length) throw new Error('the disk is full')
  await file.sync()
}

/** What the lists of some folders have. */
export interface Removals {
  /** By installation and id. */
  listed: Map<string, ListedRemoval>
  files: number
  /** Sentences on lines that cannot be read. */
  faults: string[]
}

/** Reads the lists of folders. A folder without one counts as having none. */
export async function readRemovals(folders: readonly string[]): Promise<Removals> {
  const removals: Removals = { listed: new Map(), files: 0, faults: [] }
  for (const folder of new Set(folders)) {
    const path = join(folder, NAME)
    const file = await open(path, 'r').catch(error => {
      if (error.code === 'ENOENT') return null
      throw error
    })
    if (file === null) continue
    removals.files++
    let at = 0
    for await (const line of file.readLines()) {
      at++
      if (line === '') continue
      const removal = removalOf(line)
      if (removal === null)
        removals.faults.push(`Line ${at} of ${path} was cut, and nobody knows what it took out.`)
      else removals.listed.set(`${removal.installation} ${removal.id}`, removal)
    }
  }
  return removals
}

const isTime = (value: unknown) => typeof value === 'string' && !Number.isNaN(Date.parse(value))
const isTimeOrNull = (value: unknown) => value === null || isTime(value)
const isText = (form: RegExp) => (value: unknown) => typeof value === 'string' && form.test(value)
const FIELDS: { [name in keyof ListedRemoval]: (value: unknown) => boolean } = {
  installation: isText(/^[\da-f-]{36}$/),
  number: value => Number.isSafeInteger(value) && Number(value) > 0,
  id: isText(/^[\w-]{1,64}$/),
  country: isText(/^[A-Z]{2}$/),
  covered_at: isTimeOrNull,
  removed_at: isTime,
  released_at: isTimeOrNull,
  reason: isText(/^[^\0]{0,1000}$/),
  key: isText(/^[\da-f]{256}$/),
  hashes: value => Array.isArray(value) && value.every(isText(/^[\da-f]{64}$/)),
}

const isRemoval = (value: unknown): value is ListedRemoval =>
  typeof value === 'object' &&
  value !== null &&
  Object.entries(FIELDS).every(([name, fits]) => fits(Reflect.get(value, name)))

function removalOf(line: string): ListedRemoval | null {
  if (line.length > MOST_LINE) return null
  try {
    const value: unknown = JSON.parse(line)
    return isRemoval(value) ? value : null
  } catch {
    return null
  }
}

/** What is left to do once services may start. */
export interface TakenOut {
  /**
   * Clears other stores, and says what was done.
   *
   * @returns false: articles that were taken out may be back
   */
  end(config: Config, say: (sentence: string) => void, signal: AbortSignal): Promise<boolean>
}

/** Takes out again what a list names, before any service starts. */
export async function takeOutAgain(
  pool: Pool,
  { listed, files, faults }: Removals,
): Promise<TakenOut> {
  const installation = await readValue<string>(pool, 'select id from installation')
  const own = [...listed.values()]
    .filter(one => one.installation === installation)
    .sort((a, b) => a.number - b.number)
  const wasUsed = await readValue<boolean>(pool, 'select exists (select from tombstones)')
  const { removed, unbarred } = await removeAgain(pool, own)
  return {
    async end(config, say, signal) {
      for (const fault of faults) say(printableLine(fault))
      if (files === 0) {
        say(
          `There is no list of removals (${NAME} in BACKUP_FOLDERS${wasUsed ? '' : ', and this database knows of no removal'}): articles that were taken out later are back, and nobody knows which.`,
        )
        return !wasUsed
      }
      const left = await clearRemoved(pool, await openStores(pool, config), signal)
      say(`Took out ${counted(removed, 'article')} again, of ${own.length} on the list.`)
      if (unbarred > 0)
        say(
          `${counted(unbarred, 'address', 'addresses')} of articles that this database never had cannot be barred: their key is another one.`,
        )
      if (left > 0)
        say(`${counted(left, 'article')} still to be cleared: run \`npm run articles -- clear\`.`)
      return left === 0 && unbarred === 0 && faults.length === 0
    },
  }
}
