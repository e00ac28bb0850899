import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { open, rename, rm, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { counted } from '#shared/log/printable'
import { type CommandContext, runCommand, UsageError } from '#shared/process/command'
import { listRemovals } from '#shared/removals/list'
import { COMMAND_FOLDER_MS, folderAnswers } from '#shared/resilience/folders'
import { FIRST } from '#status/causes'
import { serverVersion } from './backup/database.ts'
import { describeBackup, dump, toolsFor } from './backup/dump.ts'
import { notTakenOut } from './backup/removals.ts'

import { confirm } from './terminal/terminal.ts'

await runCommand(
  {
    name: 'backup',
    words: true,
    about: [
      'Writes the whole database to FILE, as of one moment, while everything runs: articles, crawl memory, open work, keys and',
      'quotas. Vectors are not in it; the embedder compares them after a restore and embeds missing ones again. FILE holds the',
      "hashes of keys: keep it to yourself. It is an archive of pg_dump's custom format.",
    ].join('\n'),
    usage: ['FILE [--yes] [--json]'],
    options: {
      yes: { about: 'overwrites FILE without asking' },
      json: { about: 'prints {"file", "bytes", "articles", "schema", "made_at", "seconds"}' },
    },
    needs: ['DATABASE_URL'],
  },
  async context => {
    const {
      positionals: [file, ...rest],
      options,
      print,
      say,
      signal,
    } = context
    if (file === undefined || rest.length > 0) throw new UsageError('Name the file to write.')
    if (!(await folderAnswers(dirname(file), COMMAND_FOLDER_MS)))
      throw new UsageError(
        `${dirname(file)} does not answer: mend its mount, or name another file.`,
      )
    if (!existsSync(dirname(file)))
      throw new UsageError(`There is no folder ${dirname(file)}: make it, or name another file.`)
    if (
      existsSync(file) &&
      !options.yes &&
      !(await confirm(`${file} exists. Overwrite it?`, signal))
    )
      throw new UsageError(`${file} exists; name another file, or add --yes.`)
    const start = performance.now()
    const { articles, schema, made_at } = await writeBackup(context, file)
    const { size: bytes } = await stat(file)
    const seconds = Math.round((performance.now() - start) / 1_000)
    if (options.json) print(JSON.stringify({ file, bytes, articles, schema, made_at, seconds }))
    say(
      `Wrote ${file}: ${counted(articles, 'article')} as of ${made_at}, ${(bytes / 1_000_000).toFixed(1)} MB, in ${seconds} s.`,
    )
    return (await listBeside(context, file)) ? 0 : 1
  },
)

/**
 * Completes the lists of removals in all folders of backups. What this file lacks is what is taken
 * out later, so a list in another folder, which nobody goes on with, would be of no use. The
 * account of backups may not write into the folder of the archived log.
 *
 * @returns false: the list beside the file is not complete, or names what this database has
 */
async function listBeside(
  { config, openPool, say }: CommandContext,
  file: string,
): Promise<boolean> {
  const folders = config.BACKUP_FOLDERS
  const own = dirname(resolve(file))
  const isNamed = folders.some(folder => resolve(folder) === own)
  if (!isNamed)
    say(
      `BACKUP_FOLDERS does not name ${own}: what is taken out after this backup is not listed beside it.`,
    )
  const pool = openPool({ max: 1, mayBeStandby: true })
  let isListed = true
  for (const folder of folders)
    if (!(await listRemovals(pool, [folder], say)) && resolve(folder) === own) isListed = false
  // `recovered`, the first step, reads the folders that are named.
  const relapsed = isNamed ? await notTakenOut(pool, [own]).catch(() => null) : null
  if (relapsed !== null) say(`${relapsed}: ${FIRST.relapsed}.`)
  return isListed && relapsed === null
}

/**
 * Writes the file under another name first, so that the real name only appears when the file is
 * complete and on the disk. The first name is random: the folder may be open to all accounts, and
 * none of them may guess the name.
 */
async function writeBackup(context: CommandContext, file: string) {
  const {
    config: { DATABASE_URL: databaseUrl },
    say,
    signal,
  } = context
  const pool = context.openPool({ max: 1, mayBeStandby: true })
  const aside = `${file}.${randomBytes(6).toString('hex')}.partial`
  try {
    const tools = await toolsFor(databaseUrl, await serverVersion(pool), { signal, say })
    // The file holds the hashes of keys and the secret of feeds.
    await using handle = await open(aside, 'wx', 0o600)
    await dump({ databaseUrl, tools, signal }, aside).catch(error => {
      throw signal.aborted ? error : new Error(`pg_dump failed: ${error.message}`)
    })
    await handle.sync()
    const described = await describeBackup(tools, aside)
    await rename(aside, file)
    return described
  } catch (error) {
    await rm(aside, { force: true })
    if (signal.aborted) throw new Error(`Interrupted; ${file} was not written.`)
    throw error
  }
}
