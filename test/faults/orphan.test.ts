import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { createTestDatabase } from '../database.ts'
import { freePort, until } from '../fleet.ts'

t.setTimeout(120_000)

t.test('a service whose npm was killed leaves its port to the one that is started instead', async t => {
  const database = await createTestDatabase()
  t.teardown(() => database.drop())
  const port = await freePort()
  const answers = () =>
    fetch(`http://127.0.0.1:${port}/healthz`).then(
      ({ ok }) => ok,
      () => false,
    )
  const npm = spawn('npm', ['run', '--silent', 'api'], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    env: { ...process.env, DATABASE_URL: database.url, PORT: String(port), LOG_LEVEL: 'silent' },
    stdio: 'ignore',
  })
  await until(answers, 60_000)
  npm.kill('SIGKILL')
  await once(npm, 'exit')
  await until(async () => !(await answers()), 20_000)
  t.pass()
})
