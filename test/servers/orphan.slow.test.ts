import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { freePort, until } from '../fleet.ts'
import { descendants, stillRunning, temporaryFolder } from './running.ts'

t.setTimeout(280_000)

const CHECKOUT = fileURLToPath(new URL('../..', import.meta.url))

/** Of `npm run servers` and `npm start`: how to tell that all its processes are there. */
const COMMANDS = {
  servers: { args: ['run', 'servers', '--', '--write-env', 'env'], ready: 'env', least: 5 },
  start: { args: ['start'], ready: 'data/env', least: 7 },
} as const

for (const [name, { args, ready, least }] of Object.entries(COMMANDS)) {
  t.test(`no process of \`npm ${args.slice(0, 2).join(' ')}\` outlives an npm that was killed alone`, async t => {
    const folder = temporaryFolder()
    t.teardown(() => rmSync(folder, { recursive: true, force: true }))
    const { DATABASE_URL, QDRANT_URL, EMBEDDINGS_URL, ...env } = process.env
    const given = args.map(argument => (argument === 'env' ? join(folder, 'env') : argument))
    const npm = spawn('npm', ['--silent', ...given], {
      cwd: CHECKOUT,
      env: { ...env, DATA_DIR: join(folder, 'data'), PORT: String(await freePort()) },
      stdio: 'ignore',
    })
    await until(() => existsSync(join(folder, ready)), 200_000)
    const members = descendants(npm.pid ?? 0).map(({ pid }) => pid)
    t.ok(members.length >= least, `${members.length} processes of ${name}`)
    npm.kill('SIGKILL')
    await once(npm, 'exit')
    await until(
      () => stillRunning(members).length === 0,
      25_000,
      () => JSON.stringify(stillRunning(members)),
    )
    t.pass('all are gone')
  })
}
