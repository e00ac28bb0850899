import { readdir } from 'node:fs/promises'
import { FIRST_SCHEMA, refuseUnusable, SCHEMA } from './pool.ts'

export const FOLDER: URL = new URL('../../infra/migrations/', import.meta.url)

/** Names of the numbered files, in order. */
export const migrationFiles = async (): Promise<string[]> =>
  (await readdir(FOLDER)).filter(name => /^\d{4}_.*\.sql$/.test(name)).sort()

export const numberOf = (file: string): number => Number(file.slice(0, 4))

/**
 * The files that a database lacks. Branches may have landed in another order than their numbers, so
 * it may lack a file below its newest one.
 *
 * @param known the numbers that it has
 */
export async function missingFiles(known: readonly number[]): Promise<string[]> {
  const isAbsent = (number: number) =>
    !known.includes(number) && (known.length === 0 || number > FIRST_SCHEMA)
  return (await migrationFiles()).filter(file => isAbsent(numberOf(file)))
}

/**
 * Checks the schema, too, as `refuseUnusable` checks the database.
 *
 * @returns a sentence when the database is newer than this checkout, as in a rolling upgrade
 * @throws when the database lacks a migration of this checkout
 */
export async function refuseLacking(
  url: string,
  away?: (error: Error) => void,
): Promise<string | null> {
  const known = await refuseUnusable(url, away)
  const lacks = known.length === 0 ? [] : await missingFiles(known)
  if (lacks.length > 0)
    throw new Error(`The database lacks ${lacks.join(', ')}; run \`npm run migrate\`.`)
  const newest = Math.max(0, ...known)
  return newest > SCHEMA
    ? `the database is at migration ${newest}, newer than this checkout's ${SCHEMA}: end the upgrade, or go back with a backup (docs/operations.md, "The way back")`
    : null
}
