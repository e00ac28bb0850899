import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createTestDatabase } from '#test/database'
import { freePort, until } from '#test/fleet'
import { CHECKOUT, descendants, temporaryFolder, untilGone } from './running.ts'

const { DATABASE_URL, QDRANT_URL, EMBEDDINGS_URL, ...ENV } = process.env

interface Command {
  args: string[]
  env?: Record<string, string>
  /** Whether all its processes are there. */
  ready(port: string): boolean | Promise<boolean>
  least: number
}

const database = await createTestDatabase(t)
// The second command finds the data of the first.
const folder = temporaryFolder(t)
const COMMANDS: Command[] = [
  {
    args: ['run', 'servers', '--', '--write-env', 'env'],
    ready: () => existsSync(join(folder, 'env')),
    least: 5,
  },
  { args: ['start'], ready: () => existsSync(join(folder, 'data/env')), least: 7 },
  {
    args: ['run', 'api'],
    env: { DATABASE_URL: database.url },
    ready: async port => (await fetch(`http://127.0.0.1:${port}/healthz`)).ok,
    least: 1,
  },
]

for (const { args, env, ready, least } of COMMANDS) {
  const name = `npm ${args.slice(0, 2).join(' ')}`
  t.test(`no process of \`${name}\` outlives an npm that was killed alone`, async t => {
    const given = args.map(argument => (argument === 'env' ? join(folder, 'env') : argument))
    const port = String(await freePort())
    const npm = spawn('npm', ['--silent', ...given], {
      cwd: CHECKOUT,
      env: { ...ENV, DATA_DIR: join(folder, 'data'), PORT: port, ...env },
      stdio: 'ignore',
    })
    await until(() => ready(port), 200_000)
    const members = descendants(npm.pid ?? 0).map(({ pid }) => pid)
    t.ok(members.length >= least, `${members.length} processes of ${name}`)
    npm.kill('SIGKILL')
    await once(npm, 'exit')
    await untilGone(members, 25_000)
    t.pass('all are gone')
  })
}
