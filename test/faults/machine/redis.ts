import { execFile } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Family } from '../../../infra/embedded/supervision/family.ts'
import { freePort, until } from '../../fleet.ts'
import { type Member, startMember } from './member.ts'

export interface Redis {
  url: string
  member: Member
  answers(): Promise<boolean>
  flush(): Promise<string>
  /** Before its next start, its data are removed. */
  forget(): void
}

/**
 * Debian's Redis as a fleet would run it: what it held a second ago is there again after a kill.
 */
export async function startRedis(folder: string, family: Family, log: string): Promise<Redis> {
  const port = await freePort()
  const dir = join(folder, 'redis')
  mkdirSync(dir, { recursive: true })
  let forgetful = false
  const member = startMember({
    name: 'redis',
    command: 'redis-server',
    args: [
      ...['--port', String(port), '--bind', '127.0.0.1', '--dir', dir, '--save', ''],
      ...['--appendonly', 'yes', '--appendfsync', 'everysec', '--maxmemory-policy', 'noeviction'],
    ],
    env: process.env,
    log,
    family,
    async prepare() {
      if (!forgetful) return
      forgetful = false
      rmSync(dir, { recursive: true, force: true })
      mkdirSync(dir)
    },
  })
  const say = async (command: string) =>
    (await promisify(execFile)('redis-cli', ['-p', String(port), command], { timeout: 2_000 })).stdout
  const answers = async () => (await say('ping').catch(() => '')).startsWith('PONG')
  await until(answers, 10_000, () => `Redis did not start; see ${log}.`)
  return {
    url: `redis://127.0.0.1:${port}`,
    member,
    answers,
    flush: () => say('flushall'),
    forget() {
      forgetful = true
    },
  }
}
