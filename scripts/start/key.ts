import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { readIfThere, writeWhole } from '../../infra/embedded/files.ts'
import { COUNTRIES } from '../../shared/articles/article.ts'
import { createKey, findKey } from '../../shared/plans/keys.ts'
import type { Pool } from '../../shared/postgres/pool.ts'

/** Enough for a person and a script side by side. */
const RATE = 600

/** Both files are readable by their owner alone. */
export const keyFile = (dataDir: string): string => join(dataDir, 'api.key')
export const operatorKeyFile = (dataDir: string): string => join(dataDir, 'operator.key')

/**
 * A key for all countries and the whole history, to try the system out. It is kept in `dataDir`, so
 * that the next start shows the same key. When the database does not know it, a new key is made.
 */
export async function readyMadeKey(pool: Pool, dataDir: string): Promise<string> {
  const file = keyFile(dataDir)
  const known = (await readIfThere(file))?.trim()
  if (known && (await findKey(pool, known))) return known
  const history = { kind: 'fixed', at: new Date('1990-01-01T00:00:00Z') } as const
  const { secret } = await createKey(pool, 'npm start', { countries: [...COUNTRIES], history, rate: RATE, quota: null })
  await writeWhole(file, `${secret}\n`)
  return secret
}

/** The key of the pages for operators, kept beside the other. */
export async function readyMadeOperatorKey(dataDir: string): Promise<string> {
  const file = operatorKeyFile(dataDir)
  const known = (await readIfThere(file))?.trim()
  if (known) return known
  const key = `pso_${randomBytes(24).toString('base64url')}`
  await writeWhole(file, `${key}\n`)
  return key
}
