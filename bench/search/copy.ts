import { type BenchDatabase, createDatabase } from './database.ts'

/**
 * Copies an archive within its server, to write to. A copy that an earlier run left is replaced.
 *
 * @param server address of a database on the server
 * @param url address of the archive
 * @param suffix of the copy's name
 */
export function copyArchive(server: string, url: string, suffix: string): Promise<BenchDatabase> {
  const original = new URL(url).pathname.slice(1)
  return createDatabase(server, `${original}_${suffix}`, original)
}
