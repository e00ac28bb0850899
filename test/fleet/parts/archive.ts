import { execFile } from 'node:child_process'
import { chown, copyFile, mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { until } from '../../fleet.ts'
import type { Box } from '../hosts/box.ts'
import type { PatroniPrograms } from '../programs/patroni.ts'
import { operatorsFile } from './operators-file.ts'
import { ACCOUNTS, type ArchivePlace, askSuperuser, PASSWORD, type PatroniMember } from './patroni.ts'

const run = promisify(execFile)
const ARCHIVE_MS = 60_000
const BACKUP_MS = 120_000
const SEGMENT = /^[0-9A-F]{24}$/

/** The archived log of all members, which in the box lies on one disk as on one mounted folder. */
export interface Archive extends ArchivePlace {
  /** Takes a base backup of the server at HOST:PORT. */
  backUp(address: string): Promise<void>
  /** Waits until everything up to now is archived, and looks for what is missing before. */
  inspect(primary: PatroniMember): Promise<{ segments: number; missing: string[] }>
}

/** Makes the folders as docs/backup.md says: both belong to the account of Postgres. */
export async function openArchive(box: Box, programs: PatroniPrograms): Promise<Archive> {
  const { owner } = programs
  const folder = join(box.folder, 'archive')
  const wal = join(folder, 'wal')
  for (const each of [folder, wal]) {
    await mkdir(each, { mode: 0o700 })
    if (owner) await chown(each, owner.uid, owner.gid)
  }
  const programOf = async (name: string) => {
    const copy = join(box.folder, name)
    await copyFile(operatorsFile(`postgres/${name}`), copy)
    return copy
  }
  const program = await programOf('archive-wal')
  const baseBackup = await programOf('base-backup')
  return {
    folder,
    program,
    async backUp(address) {
      const { hostname, port } = new URL(`postgres://${address}`)
      const account = { PGHOST: hostname, PGPORT: port, PGUSER: ACCOUNTS.REPLICATION, PGPASSWORD: PASSWORD }
      const env = { PATH: process.env.PATH, ...programs.env, ...account, PG_BIN: programs.postgres }
      await run(baseBackup, [folder], { cwd: '/', env, timeout: BACKUP_MS, ...idOf(programs) })
    },
    async inspect(primary) {
      const last = await closeSegment(primary)
      let names: string[] = []
      const isThere = async () => {
        names = await readdir(wal)
        return names.includes(last)
      }
      await until(isThere, ARCHIVE_MS, () => `${last} is not archived; there are ${names.join(' ')}.`)
      const numbers = new Set(names.filter(name => SEGMENT.test(name)).map(numberOf))
      const missing = []
      for (let at = Math.min(...numbers); at < numberOf(last); at++) if (!numbers.has(at)) missing.push(at.toString(16))
      return { segments: numbers.size, missing }
    },
  }
}

/** A segment's place in the log. Its name has the timeline, and two numbers of eight digits. */
const numberOf = (name: string) => Number.parseInt(name.slice(8, 16) + name.slice(22), 16)

const idOf = ({ owner }: PatroniPrograms) => (owner ? { uid: owner.uid, gid: owner.gid } : {})

/** @returns the name of the segment that the server wrote to until now */
async function closeSegment(member: PatroniMember): Promise<string> {
  await askSuperuser(member, 'checkpoint')
  const [row] = await askSuperuser(member, 'select pg_walfile_name(pg_switch_wal()) as name')
  return String(row?.name)
}
