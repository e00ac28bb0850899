import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { createTestDatabase } from '#test/database'
import { writeImport } from '#test/faults/site/site-article'
import { runScript } from '#test/script'

const fileOf = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url))

/** In place of two minutes. The real limit is tried by a long test (`REAL_LIMIT`). */
const LIMIT = process.env.REAL_LIMIT ? [] : ['20 s']

const HOLDER = `
  const { openSegmentWriter } = await import(process.argv[1])
  const { createPool } = await import(process.argv[2])
  setInterval(() => {}, 1_000)
  const limit = process.argv.slice(3).map(flush => ({ flush }))
  await openSegmentWriter(createPool(process.env.DATABASE_URL, 'test', () => {}), ...limit).exclusively('flush', true, () => {
    console.log('held')
    return new Promise(() => {})
  })`

t.test(
  'a stopped process that makes a segment loses its lock: imports end, and segments are made',
  async t => {
    const database = await createTestDatabase(t)
    const modules = ['search/store/postgres-segment-writer.ts', 'shared/postgres/pool.ts'].map(
      fileOf,
    )
    const holder = spawn(
      process.execPath,
      ['--input-type=module', '-e', HOLDER, ...modules, ...LIMIT],
      {
        env: { ...process.env, DATABASE_URL: database.url },
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    )
    t.teardown(() => holder.kill('SIGKILL'))
    await once(holder.stdout, 'data')
    holder.kill('SIGSTOP')

    // Fewer make no segment.
    const file = join(t.testdir(), 'articles.ndjson')
    await writeFile(file, writeImport(1, 2_100))
    const settings = { DATABASE_URL: database.url, EMBED_DELAY: '1d' }
    const { code, out, err } = await runScript(
      'import',
      [file, '--rate', '500', '--json'],
      settings,
    )
    t.equal(code, 0, err)
    t.match(JSON.parse(out), { indexed: 2_100, known: 0, bad: 0 })
    t.same(await database.query('select sum(last_seq - first_seq + 1)::int as n from segments'), [
      { n: 2_100 },
    ])
  },
)
