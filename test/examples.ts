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
    .slice(0, -1)
  const rows = lines.map(line => line.split('\t'))
  return new Map(
    [...Map.groupBy(rows, ([kind = '']) => kind)].map(([kind, own]) => [
      kind,
      own.map(row => row.slice(1)),
    ]),
  )
}

/** A row of a table, with texts in the place of their names, as `{prose}`. */
export function filled<Row>(row: Row, texts: Readonly<Record<string, string>>): Row {
  return JSON.parse(JSON.stringify(row), (_, value) =>
    typeof value === 'string'
      ? value.replace(/\{(\w+)\}/g, (own, name) => texts[name] ?? own)
      : value,
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
      for (const row of rows) await check(t, filled(row, texts), JSON.stringify(row))
    })
}
