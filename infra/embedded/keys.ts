import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { KEYED_SERVERS } from '../../shared/config/embedded-keys.ts'
import { readIfThere, writeWhole } from './data-directory/file.ts'

/**
 * The key that an embedded server asks for, because every account of the machine can reach its
 * port. It is made once and kept in `dataDir`, where only its owner can read it. Services therefore
 * keep working after a restart of the servers.
 */
export async function serverKey(dataDir: string, server: keyof typeof KEYED_SERVERS): Promise<string> {
  const file = join(dataDir, KEYED_SERVERS[server].file)
  const known = (await readIfThere(file))?.trim()
  if (known) return known
  const key = randomBytes(24).toString('base64url')
  await writeWhole(file, `${key}\n`)
  return key
}
