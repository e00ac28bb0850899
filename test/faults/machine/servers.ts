import { mkdirSync, rmSync } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseEnv } from 'node:util'
import type { Family } from '#infra/embedded/supervision/family'
import { freePort, until } from '#test/fleet'
import { run } from '#test/script'
import { type Member, startMember } from './member.ts'

export type EmbeddedServer = 'postgres' | 'qdrant' | 'model'

/**
 * Servers of the run's own: `npm run servers` as it is. A `pidOf` is null while the server is away.
 */
export interface Servers {
  supervisor: Member
  env: NodeJS.Dict<string>
  dataDir: string
  pidOf(server: EmbeddedServer): Promise<number | null>
}

const SCRIPT = fileURLToPath(new URL('../../../scripts/servers.ts', import.meta.url))
/** The model's environment is made once per checkout, and takes minutes then. */
const START_MS = 300_000

export async function startServers(folder: string, family: Family, log: string): Promise<Servers> {
  const dataDir = join(folder, 'data')
  const file = join(folder, 'servers.env')
  const supervisor = startMember({
    name: 'servers',
    command: process.execPath,
    args: [SCRIPT, '--write-env', file],
    env: { ...process.env, DATA_DIR: dataDir },
    log,
    family,
    prepare: () => rm(file, { force: true }),
  })
  const end = Date.now() + START_MS
  for (;;) {
    const text = await readFile(file, 'utf8').catch(() => null)
    if (text)
      return {
        supervisor,
        env: parseEnv(text),
        dataDir,
        pidOf: (server: EmbeddedServer) => pidOf(dataDir, server),
      }
    if (supervisor.ends.length > 0 || Date.now() > end) {
      await supervisor.stop()
      throw new Error(`The servers of the run did not start; see ${log}.`)
    }
    await sleep(100)
  }
}

const COMMANDS = { qdrant: /^qdrant$/, model: /^python/ }

async function pidOf(dataDir: string, server: EmbeddedServer): Promise<number | null> {
  if (server === 'postgres') {
    const pid = await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').catch(() => '')
    return Number(pid.split('\n')[0]) || null
  }
  const record: { processes?: Record<string, unknown> } = JSON.parse(
    await readFile(join(dataDir, 'processes.json'), 'utf8').catch(() => '{}'),
  )
  for (const pid of Object.keys(record.processes ?? {})) {
    const command = await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => '')
    if (COMMANDS[server].test(command.trim())) return Number(pid)
  }
  return null
}

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
      '--port',
      String(port),
      '--bind',
      '127.0.0.1',
      '--dir',
      dir,
      '--save',
      '',
      '--appendonly',
      'yes',
      '--appendfsync',
      'everysec',
      '--maxmemory-policy',
      'noeviction',
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
    (await run('redis-cli', ['-p', String(port), command], { timeout: 2_000 })).stdout
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
