import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort, until } from '#test/fleet'

export function hasRedis(): boolean {
  try {
    execFileSync('redis-server', ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/**
 * A Redis of the test's own on a free port, with a password as a fleet's has one; `url` is null
 * where the machine has no `redis-server`.
 */
export async function startRedis(): Promise<{
  url: string | null
  flush(): void
  /** How many clients wait for a message in one command. */
  waiting(): number
  stop(): Promise<void>
}> {
  if (!hasRedis()) return { url: null, flush() {}, waiting: () => 0, async stop() {} }
  const port = await freePort()
  const password = randomBytes(16).toString('hex')
  const dir = mkdtempSync(join(tmpdir(), 'perscope-redis-'))
  const child: ChildProcess = spawn(
    'redis-server',
    [
      '--port',
      String(port),
      '--bind',
      '127.0.0.1',
      '--requirepass',
      password,
      '--dir',
      dir,
      '--save',
      '',
      '--maxmemory-policy',
      'noeviction',
    ],
    { stdio: 'ignore' },
  )
  const redis = (...args: string[]) =>
    execFileSync('redis-cli', ['-p', String(port), ...args], {
      encoding: 'utf8',
      env: { ...process.env, REDISCLI_AUTH: password },
    })
  await until(() => redis('ping').startsWith('PONG'), 60_000)
  return {
    url: `redis://:${password}@127.0.0.1:${port}`,
    flush: () => void redis('flushall'),
    waiting: () => Number(/^blocked_clients:(\d+)/m.exec(redis('info', 'clients'))?.[1]),
    async stop() {
      const gone = new Promise(resolve => child.once('exit', resolve))
      child.kill('SIGKILL')
      await gone
      rmSync(dir, { recursive: true, force: true })
    },
  }
}
