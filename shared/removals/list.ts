import { constants } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Config } from '#shared/config/config'
import { type Pool, readValue } from '#shared/postgres/pool'
import { sentenceOf } from '#shared/process/command'
import { COMMAND_FOLDER_MS, folderAnswers } from '#shared/resilience/folders'
import { clearRemoved } from './remove.ts'
import { openStores } from './stores.ts'

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

export const LIST_NAME = 'removals.perscope.ndjson'

/** SQL: a line for each tombstone `t`. */
export const REMOVAL_LINES = `
  select json_build_object(
      'installation', i.id, 'number', t.number, 'id', t.id, 'country', t.country,
      'covered_at', t.covered_at, 'removed_at', t.removed_at, 'released_at', t.released_at,
      'reason', t.reason, 'key', encode(k.inner_pad || k.outer_pad, 'hex'),
      'hashes', array(select encode(hash, 'hex') from tombstone_addresses a where a.seq = t.seq order by hash)
    )::text as line, t.number
    from tombstones t, tombstone_key k, installation i`

const LINES = `${REMOVAL_LINES} where t.number > $1 order by t.number limit 1000`

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
    await addLines(pool, join(folder, LIST_NAME)).catch(error => {
      isListed = false
      say(
        `The list of removals in ${folder} was not written (${sentenceOf(error)}); mend it, and run "npm run articles -- clear".`,
      )
    })
  }
  return isListed
}

async function addLines(pool: Pool, path: string): Promise<void> {
  if (!(await folderAnswers(dirname(path), COMMAND_FOLDER_MS)))
    throw new Error('it does not answer')
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

// Index: tombstones_uncleared. A command clears what it took out by itself.
const WAITS_LONG = `
  select exists (select from tombstones where cleared_at is null and removed_at < now() - interval '10 minutes')`

/** Whether what was taken out waits to be cleared, and no command does it. */
export const waitsLong = async (pool: Pool): Promise<boolean> =>
  (await readValue<boolean>(pool, WAITS_LONG)) === true

/**
 * Does what follows the transaction of a removal: lists it beside the backups, and clears other
 * stores and segments. It may run again.
 *
 * @param rewrite writes segments again; absent: this thread does
 * @returns how many still wait to be cleared; `isListed` false: a list could not be written
 */
export async function finishRemovals(
  pool: Pool,
  config: Config,
  say: (sentence: string) => void,
  signal: AbortSignal,
  rewrite?: () => Promise<unknown>,
): Promise<{ isListed: boolean; left: number }> {
  const isListed = await listRemovals(pool, config.BACKUP_FOLDERS, say)
  const left = await clearRemoved(pool, await openStores(pool, config), signal, rewrite)
  return { isListed, left }
}
