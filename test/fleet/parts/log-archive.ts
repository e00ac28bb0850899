import type { Box } from '#test/fleet/hosts/box'
import type { PatroniPrograms } from '#test/fleet/programs/patroni'
import {
  type LogArchive as MadeArchive,
  openArchive as makeArchive,
} from '#test/recovery/log-archive'
import { ACCOUNTS, askSuperuser, PASSWORD, type PatroniMember } from './patroni.ts'

const SEGMENT = /^[0-9A-F]{24}$/

/** The archived log of all members, which in the box lies on one disk as on one mounted folder. */
export interface LogArchive extends MadeArchive {
  /** Takes a base backup of the server at HOST:PORT. */
  backUp(address: string): Promise<void>
  /** Waits until everything up to now is archived, and looks for what is missing before. */
  inspect(primary: PatroniMember): Promise<{ segments: number; missing: string[] }>
}

export async function openArchive(
  box: Box,
  { owner, env, postgres }: PatroniPrograms,
): Promise<LogArchive> {
  const archive = await makeArchive(box.folder, owner, { ...env, PG_BIN: postgres })
  return {
    ...archive,
    backUp: address => archive.backUp(`postgres://${ACCOUNTS.REPLICATION}:${PASSWORD}@${address}`),
    async inspect(primary) {
      await askSuperuser(primary, 'checkpoint')
      const last = numberOf(await archive.untilArchived(sql => askSuperuser(primary, sql)))
      const numbers = new Set(
        (await archive.files()).filter(name => SEGMENT.test(name)).map(numberOf),
      )
      const missing = []
      for (let at = Math.min(...numbers); at < last; at++)
        if (!numbers.has(at)) missing.push(at.toString(16))
      return { segments: numbers.size, missing }
    },
  }
}

/** A segment's place in the log. Its name has the timeline, and two numbers of eight digits. */
const numberOf = (name: string) => Number.parseInt(name.slice(8, 16) + name.slice(22), 16)
