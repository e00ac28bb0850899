import { open } from 'node:fs/promises'
import { join } from 'node:path'
import type { ListedRemoval } from '#search/types'
import { ARTICLE_ID } from '#shared/articles/article'
import type { Config } from '#shared/config/config'
import { counted, printableLine } from '#shared/log/printable'
import { type Pool, readColumn, readValue, UNFINISHED } from '#shared/postgres/pool'
import { LIST_NAME } from '#shared/removals/list'
import { clearRemoved, removeAgain } from '#shared/removals/remove'
import { openStores } from '#shared/removals/stores'
import { COMMAND_FOLDER_MS, folderAnswers } from '#shared/resilience/folders'

/*
 * Reads the list of removals beside backups (`shared/removals/list.ts`), and takes out again what
 * it names.
 */

/** The most characters of a line: an article has some addresses, of 67 characters each. */
const MOST_LINE = 100_000

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
    if (!(await folderAnswers(folder, COMMAND_FOLDER_MS)))
      throw new Error(
        `${folder} does not answer, and may have a list of removals: mend its mount, or the machine that it comes from.`,
      )
    const path = join(folder, LIST_NAME)
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
      else add(removals, removal)
    }
  }
  return removals
}

/** A release is for good. Lists of other folders, or of before, may lack it. */
function add({ listed }: Removals, removal: ListedRemoval): void {
  const name = `${removal.installation} ${removal.id}`
  if (removal.released_at !== null || !listed.has(name)) listed.set(name, removal)
}

/**
 * Finds articles that a list of removals names and this database has not taken out. Somebody then
 * went back with a version that knows no lists, or without `recovered`. A folder that this account
 * may not read is left out.
 *
 * @returns a sentence without its first step; null: all was taken out, or was released later
 */
export async function notTakenOut(pool: Pool, folders: readonly string[]): Promise<string | null> {
  const lists = await Promise.all(
    folders.map(folder =>
      readRemovals([folder]).then(
        ({ listed }) => [...listed.values()],
        () => [],
      ),
    ),
  )
  const installation = await readValue<string>(pool, 'select id from installation')
  const own = lists.flat().filter(one => one.installation === installation)
  const released = new Set(own.filter(one => one.released_at !== null).map(({ id }) => id))
  const due = new Set(own.map(({ id }) => id).filter(id => !released.has(id)))
  const ids = await readColumn<string>(pool, LACKING, [[...due]])
  if (ids.length === 0) return null
  const named = ids.length > NAMED ? `${ids.slice(0, NAMED).join(', ')} …` : ids.join(', ')
  return `${counted(ids.length, 'article')} of the list of removals (${LIST_NAME}) ${ids.length === 1 ? 'is' : 'are'} not taken out here: ${named}`
}

const NAMED = 10
// $1 ids. Index: tombstones_id_key.
const LACKING = `
  select id from unnest($1::text[]) listed (id) where not exists (select from tombstones t where t.id = listed.id)`

/** Adds what the replaced database knows, as one more list. */
export async function addKept(pool: Pool, removals: Removals): Promise<void> {
  const table = `${UNFINISHED}.removals`
  if (!(await readValue<boolean>(pool, 'select to_regclass($1) is not null', [table]))) return
  const lines = await readColumn<string>(pool, `select line from ${table} order by number`)
  if (lines.length > 0) removals.files++
  for (const line of lines) {
    const removal = removalOf(line)
    if (removal !== null) add(removals, removal)
  }
}

const isTime = (value: unknown) => typeof value === 'string' && !Number.isNaN(Date.parse(value))
const isTimeOrNull = (value: unknown) => value === null || isTime(value)
const isText = (form: RegExp) => (value: unknown) => typeof value === 'string' && form.test(value)
const FIELDS: { [name in keyof ListedRemoval]: (value: unknown) => boolean } = {
  installation: isText(/^[\da-f-]{36}$/),
  number: value => Number.isSafeInteger(value) && Number(value) > 0,
  id: isText(ARTICLE_ID),
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
          wasUsed
            ? `There is no list of removals (${LIST_NAME} in BACKUP_FOLDERS): articles that were taken out later are back, and nobody knows which.`
            : `There is no list of removals (${LIST_NAME} in BACKUP_FOLDERS), and this database knows of none: if articles were taken out after the backup, take them out again.`,
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
