import { readFileSync } from 'node:fs'
import type { Test } from 'tap'

/**
 * Rows of a table of examples by their first cell, the kind; cells end at tabs.
 *
 * @param path of the table below this folder, without its `.tsv`
 */
export function examples(path: string): Map<string, string[][]> {
  const lines = readFileSync(new URL(`${path}.tsv`, import.meta.url), 'utf8')
    .split('\n')
    .filter(line => line !== '')
  const rows = lines.map(line => line.split('\t'))
  return new Map(
    [...Map.groupBy(rows, ([kind = '']) => kind)].map(([kind, own]) => [
      kind,
      own.map(row => row.slice(1)),
    ]),
  )
}

/**
 * A row of a table, with texts in the place of their names, as `{prose}`. A name begins with a
 * small letter, so an array of Postgres such as `{1}` or `{LU}` is none.
 */
export function filled<Row>(row: Row, texts: Readonly<Record<string, string>>): Row {
  const textOf = (own: string, name: string) => {
    const text = texts[name]
    if (text === undefined) throw new Error(`No text has the name ${own}.`)
    return text
  }
  return JSON.parse(JSON.stringify(row), (_, value) =>
    typeof value === 'string' ? value.replace(/\{([a-z]\w*)\}/g, textOf) : value,
  )
}

/**
 * A test for each rule of a table.
 *
 * @param texts stand in rows by their names, as `{prose}`
 * @param check `about` is the row as it is written
 */
export function tryRows<Row>(
  tap: Pick<Test, 'test'>,
  table: Readonly<Record<string, readonly Row[]>>,
  texts: Readonly<Record<string, string>>,
  check: (t: Test, row: Row, about: string) => unknown,
): void {
  for (const [rule, rows] of Object.entries(table))
    tap.test(rule, async t => {
      t.ok(rows.length > 0, rule)
      for (const row of rows) await check(t, filled(row, texts), JSON.stringify(row))
    })
}
