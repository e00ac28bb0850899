import {
  appendFile,
  chmod,
  chown,
  copyFile,
  cp,
  mkdir,
  readdir,
  readFile,
  writeFile,
} from 'node:fs/promises'
import { basename, join } from 'node:path'
import { giveTo, type Owner } from '#infra/embedded/accounts'
import { until } from '#test/fleet'
import { operatorsFile } from '#test/fleet/parts/operators-file'
import { run } from '#test/script'

const LIMIT_MS = 60_000
const BACKUP_MS = 120_000

/** Runs a statement on the server that is meant, as its superuser. */
export type Ask = (sql: string) => Promise<Record<string, unknown>[]>

/** The archived log and the base backups of a server, made with what operators copy. */
export interface LogArchive {
  /** Below it lie `wal` and `base`. */
  folder: string
  /** `archive-wal`, where the account of Postgres can read it. */
  program: string
  /** Takes a base backup of the server at an address. */
  backUp(url: string): Promise<void>
  /** Names of the base backups, oldest first. */
  backups(): Promise<string[]>
  /** Names of the archived files. */
  files(): Promise<string[]>
  /** Copies the newest base backup to a new data folder. */
  restore(data: string): Promise<void>
  /** Waits until all up to now is archived; returns the name of the last segment. */
  untilArchived(ask: Ask): Promise<string>
}

/**
 * Makes the folders as docs/backup.md says: both belong to the account of Postgres.
 *
 * @param root a folder that all accounts can enter
 * @param env of `base-backup`
 */
export async function openArchive(
  root: string,
  owner: Owner | null,
  env: NodeJS.ProcessEnv,
): Promise<LogArchive> {
  const folder = join(root, 'archive')
  const wal = join(folder, 'wal')
  const bases = join(folder, 'base')
  for (const each of [folder, wal]) {
    await mkdir(each, { mode: 0o700 })
    if (owner) await chown(each, owner.uid, owner.gid)
  }
  // The account may not be able to enter the checkout.
  const program = join(root, 'archive-wal')
  const baseBackup = join(root, 'base-backup')
  for (const copy of [program, baseBackup])
    await copyFile(operatorsFile(`postgres/${basename(copy)}`), copy)
  const backups = async () => (await readdir(bases)).filter(name => name.endsWith('Z')).sort()
  return {
    folder,
    program,
    async backUp(url: string): Promise<void> {
      const { hostname, port, username, password } = new URL(url)
      const server = { PGHOST: hostname, PGPORT: port, PGUSER: username, PGPASSWORD: password }
      await run(baseBackup, [folder], {
        cwd: '/',
        env: { PATH: process.env.PATH, ...env, ...server },
        timeout: BACKUP_MS,
        ...(owner && { uid: owner.uid, gid: owner.gid }),
      })
    },
    backups,
    files: () => readdir(wal),
    async restore(data: string): Promise<void> {
      await cp(join(bases, (await backups()).at(-1) ?? ''), data, { recursive: true })
      await chmod(data, 0o700)
      await giveTo(owner, data)
    },
    async untilArchived(ask: Ask): Promise<string> {
      const [row] = await ask('select pg_walfile_name(pg_switch_wal()) as name')
      const last = String(row?.name)
      await until(
        async () => (await readdir(wal)).includes(last),
        LIMIT_MS,
        `${last} is not archived.`,
      )
      return last
    },
  }
}

/** Lets the server of a restored data folder replay the log up to a moment when it is started. */
export async function recoverTo(
  moment: string,
  data: string,
  { folder }: LogArchive,
): Promise<void> {
  const lines = await readFile(operatorsFile('postgres/recover.conf'), 'utf8')
  const filled = lines.replace('/var/lib/perscope-archive', folder).replace("'TIME'", `'${moment}'`)
  await appendFile(join(data, 'postgresql.auto.conf'), filled)
  await writeFile(join(data, 'recovery.signal'), '')
}

/** Waits until a server that recovers has replayed the log up to its moment. */
export const untilAtMoment = (ask: Ask): Promise<void> =>
  until(
    async () =>
      (await ask('select pg_get_wal_replay_pause_state() as state'))[0]?.state === 'paused',
    LIMIT_MS,
    'The recovery does not reach its moment; see the log of the server.',
  )

/** Lets a server that recovers begin a timeline of its own. */
export async function endRecovery(ask: Ask): Promise<void> {
  await ask('select pg_wal_replay_resume()')
  await until(
    async () => (await ask('select pg_is_in_recovery() as is'))[0]?.is === false,
    LIMIT_MS,
  )
}
