import { readdir } from 'node:fs/promises'
import { FIRST_SCHEMA } from './pool.ts'

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
