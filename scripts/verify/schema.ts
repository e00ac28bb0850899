import { readFile } from 'node:fs/promises'
import { FOLDER, migrationFiles, missingFiles } from '#shared/postgres/migrations'
import { readColumn } from '#shared/postgres/pool'
import type { Looking } from './report.ts'

/*
 * Looks for what the migrations made and the database has no more; what a later file drops is not
 * missed. Without an index or a constraint all answers stay right, until one is slow or a row comes
 * twice.
 */

const STATEMENTS =
  /\b(create|drop) (?:or replace |unlogged |unique |constraint )*(table|index|function|trigger) (?:concurrently )?(?:if (?:not )?exists )?(\w+)([^;]*)/g
const KEYS = /\bprimary key\b|\bunique\b|\bexclude\b/g

// $1 kinds, $2 names, $3 how many keys a table has at least. A trigger may be switched off, and an
// index that was not built to its end is not valid.
const LOST = `
  select kind, name from unnest($1::text[], $2::text[], $3::int[]) as made (kind, name, keys)
   where not case kind
     when 'table' then (select count(*) >= keys from pg_constraint where conrelid = to_regclass(name) and contype in ('p', 'u', 'x'))
       and to_regclass(name) is not null
     when 'index' then exists (select from pg_index where indexrelid = to_regclass(name) and indisvalid)
     when 'function' then exists (select from pg_proc where proname = name)
     else exists (select from pg_trigger where tgname = name and tgenabled <> 'D') end`

export async function verifySchema({ pool, report }: Looking): Promise<void> {
  const files = (await migrationFiles()).map(file => readFile(new URL(file, FOLDER), 'utf8'))
  const made = new Map<string, RegExpExecArray>()
  for (const sql of await Promise.all(files)) {
    for (const statement of sql.replace(/--.*$/gm, '').matchAll(STATEMENTS)) {
      const [, verb, kind, name] = statement
      if (verb === 'drop') made.delete(`${kind} ${name}`)
      else made.set(`${kind} ${name}`, statement)
    }
  }
  const all = [...made.values()]
  const { rows } = await pool.query<{ kind: string; name: string }>(LOST, [
    all.map(([, , kind]) => kind),
    all.map(([, , , name]) => name),
    all.map(([, , , , rest]) => rest?.match(KEYS)?.length ?? 0),
  ])
  for (const { kind, name } of rows)
    report.found('schema', `the ${kind} ${name} is lost, or is not whole`)
  const known = await readColumn<number>(pool, 'select number from migrations')
  for (const file of await missingFiles(known))
    report.found('schema', `${file} is not among the migrations`)
}
