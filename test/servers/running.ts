import { type ChildProcess, spawn } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseEnv } from 'node:util'
import { heard, until } from '#test/fleet'

export const CHECKOUT: string = fileURLToPath(new URL('../..', import.meta.url))
export const SERVERS: string = join(CHECKOUT, 'scripts', 'servers.ts')
export const asRoot: boolean = process.getuid?.() === 0
/** For tests of accounts. */
export const rootOnly = { skip: asRoot ? false : 'this needs root' }

/** A folder that the database's account can enter. It is removed at the end of the test. */
export function temporaryFolder(t: { teardown(end: () => unknown): unknown }): string {
  const folder = mkdtempSync(join(tmpdir(), 'perscope-servers-'))
  chmodSync(folder, 0o755)
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

export interface RunningServers {
  pid: number
  /** What it said so far. */
  said(): string
  /** Who may read the file. */
  mode(): number
  /** Its exit code; null when a signal ended it. */
  ended: Promise<number | null>
  /** Ends it in order; its exit code. */
  stop(): Promise<number | null>
  /** The lines that it wrote, once they are there. */
  addresses(): Promise<NodeJS.Dict<string>>
}

/** `npm run servers -- --write-env FILE`, as a process that leads a group of its own. */
export function runServers(
  dataDir: string,
  env: NodeJS.ProcessEnv = {},
  nodeOptions: string[] = [],
): RunningServers {
  const folder = mkdtempSync(join(tmpdir(), 'perscope-servers-'))
  const file = join(folder, 'env')
  const script = nodeOptions.at(-1)?.endsWith('.ts') ? [] : [SERVERS]
  const child: ChildProcess = spawn(
    process.execPath,
    [...nodeOptions, ...script, '--write-env', file],
    {
      env: { ...process.env, DATA_DIR: dataDir, ...env },
      detached: true,
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  )
  const said = heard(child.stderr)
  let mode = 0
  const ended = new Promise<number | null>(resolve => {
    child.once('close', code => {
      rmSync(folder, { recursive: true, force: true })
      resolve(code)
    })
  })
  return {
    pid: child.pid ?? 0,
    said,
    mode: () => mode,
    ended,
    stop() {
      process.kill(child.pid ?? 0, 'SIGTERM')
      return ended
    },
    async addresses() {
      await until(() => existsSync(file) || child.exitCode !== null, 120_000, said)
      mode = statSync(file).mode & 0o777
      const addresses = parseEnv(readFileSync(file, 'utf8'))
      rmSync(file)
      return addresses
    },
  }
}

interface Seen {
  pid: number
  parent: number
  running: boolean
  command: string
}

/** Every process of the machine. */
function processes(): Seen[] {
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .flatMap(name => {
      try {
        const [state = 'Z', parent = '0'] =
          readFileSync(`/proc/${name}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? []
        const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ')
        return [
          { pid: Number(name), parent: Number(parent), running: !'ZX'.includes(state), command },
        ]
      } catch {
        return []
      }
    })
}

/** All that a process started, and what that started, as far as it still runs. */
export function descendants(pid: number): Seen[] {
  const all = processes()
  const below = (parent: number): Seen[] =>
    all.filter(seen => seen.parent === parent).flatMap(seen => [seen, ...below(seen.pid)])
  return below(pid).filter(seen => seen.running)
}

/** Waits until none of these processes runs any more. */
export async function untilGone(pids: number[], ms: number): Promise<void> {
  const left = () => JSON.stringify(stillRunning(pids))
  await until(() => left() === '[]', ms, left)
}

/** Of these processes, those that still run. */
export function stillRunning(pids: number[]): Seen[] {
  return processes().filter(seen => pids.includes(seen.pid) && seen.running)
}
