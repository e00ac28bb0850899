import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { createTestDatabase } from '#test/database'
import { writeImport } from '#test/faults/site/site-article'
import { heard, until } from '#test/fleet'
import { openLinkTo } from '#test/fleet/links/link'

t.test('an import waits for a Postgres that is away, and goes on', async t => {
  const database = await createTestDatabase(t)
  const link = await openLinkTo(database.url)
  const command = spawn(
    process.execPath,
    [fileURLToPath(new URL('../import.ts', import.meta.url)), '-'],
    {
      env: { ...process.env, DATABASE_URL: link.url, EMBED_DELAY: '1d' },
      stdio: ['pipe', 'ignore', 'pipe'],
    },
  )
  t.teardown(async () => {
    command.kill('SIGKILL')
    await link.close()
  })
  const said = heard(command.stderr)
  const lines = writeImport(1, 1_000).trimEnd().split('\n')

  command.stdin.write(`${lines.slice(0, 900).join('\n')}\n`)
  await until(async () => (await database.count('articles')) > 0, 60_000, said)
  link.break()
  command.stdin.end(`${lines.slice(900).join('\n')}\n`)
  await until(() => said().includes('Postgres is away'), 60_000, said)
  link.mend()
  const [code] = await once(command, 'exit')
  t.equal(code, 0, said())
  t.equal(await database.count('articles'), 1_000)
})
