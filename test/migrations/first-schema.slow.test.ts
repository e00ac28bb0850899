import { execFile, spawn } from 'node:child_process'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'
import { createTestDatabase } from '#test/database'
import { runScript } from '#test/script'

/** The version whose schema upgrades begin with. */
const OLD = '92d9fe01'
const run = promisify(execFile)
const ROOT = fileURLToPath(new URL('../../', import.meta.url))

const isThere = await run('git', ['cat-file', '-e', `${OLD}^{commit}`], { cwd: ROOT }).then(
  () => true,
  () => false,
)

/** Unpacks that version beside our packages. */
async function checkOut(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  const archive = spawn('git', ['archive', OLD], { cwd: ROOT })
  const unpack = spawn('tar', ['-x', '-C', folder])
  archive.stdout.pipe(unpack.stdin)
  await new Promise(resolve => unpack.once('close', resolve))
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
}

const APOSTROPHES = ["'", '‘', '’', 'ʼ', '`', '´']

/** Such parameters belonged to an address then. */
const tracked = (at: number) => (at % 9 === 2 ? `?itm_source=${at}` : '')

/**
 * Articles whose names, titles and texts have each apostrophe. The last one has the address of
 * another by the rules of today.
 */
const lines = Array.from({ length: 120 }, (_, at) => {
  const mark = APOSTROPHES[at % APOSTROPHES.length]
  const domain = `krant${at % 7}.example`
  return JSON.stringify({
    url: `https://${domain}/${at === 119 ? 112 : at}${tracked(at)}`,
    title: `O${mark}Neill bezoekt ${at} d${mark}Oultremont`,
    body: at % 3 === 0 ? null : `In ${mark}s-Hertogenbosch sprak O${mark}Neill. `.repeat(at % 20),
    published_at: '2026-03-01T12:00:00Z',
    authors: [`Sinéad O${mark}Connor`, `D${mark}Artagnan`],
    outlet: { name: `L${mark}Écho ${at % 7}`, domain },
    language: 'nl',
    country: 'BE',
  })
})

t.test(
  `a database of ${OLD} is brought along: verify finds nothing, searches find its words`,
  { skip: !isThere && `this checkout lacks the commit ${OLD}` },
  async t => {
    const database = await createTestDatabase(t)
    await database.query('drop schema public cascade; create schema public')
    await database.query('grant all on schema public to public')
    await database.query(
      'drop schema if exists pgboss cascade; drop schema if exists bullmq cascade',
    )
    const old = join(t.testdir(), 'old')
    await checkOut(old)
    const file = join(old, 'articles.ndjson')
    await writeFile(file, lines.join('\n'))
    const env = { DATABASE_URL: database.url, REDIS_URL: '', QDRANT_URL: '', EMBEDDINGS_URL: '' }
    for (const [script, args] of [
      ['migrate.ts', []],
      ['import.ts', [file]],
    ] as const) {
      const { code, out, err } = await runScript(`${old}/scripts/${script}`, args, env)
      t.equal(code, 0, out + err)
    }
    const migrated = await runScript('migrate', [], env)
    t.equal(migrated.code, 0, migrated.err)
    t.match(migrated.err, /^Applied 0034_index\.sql, /m)
    const { code, out, err } = await runScript('verify', ['--json'], env)
    const { ok, articles, differences, notes } = JSON.parse(out)
    t.strictSame({ code, ok, articles }, { code: 0, ok: true, articles: 120 }, out + err)
    t.match(differences, [{ kind: 'doubles', count: 1, mend: null }])
    const again = await runScript('import', ['-'], env, lines.join('\n').replaceAll('itm_', 'utm_'))
    t.match(again.err, /0 articles|120 known/, 'known by the keys of today')
    t.match(notes, [/^The order of 120 times of ingestion was not compared/])
    const found = await database.query(
      "select count(*)::int as n from article_words where title like E'%\\no\\nneill\\n%'",
    )
    t.strictSame(found, [{ n: 120 }])
  },
)
