import { serverKey } from '../keys.ts'
import { accountOf, checkPassage } from '../owner.ts'
import { openPrograms } from '../programs.ts'
import type { Addresses, Keys, Starting } from '../starting.ts'
import { QDRANT_VERSION, qdrantPackage } from './binary.ts'
import { qdrantProgram } from './server.ts'

/** Starts Qdrant on `port`, with its data under `DATA_DIR`. */
export async function startQdrant(starting: Starting, port: number): Promise<Addresses & Keys> {
  const { dataDir } = starting
  const owner = accountOf('qdrant')
  await checkPassage(owner, dataDir, 'Qdrant')
  const folder = await qdrantPackage()
  const programs = await openPrograms(folder, ['bin/qdrant'], `qdrant-${QDRANT_VERSION}`, dataDir, owner)
  const lock = await starting.lock('qdrant', 'Qdrant')
  const key = await serverKey(dataDir, 'qdrant')
  await starting.run(await qdrantProgram(dataDir, programs, port, key, owner, lock, starting.logOf('qdrant')))
  return { QDRANT_URL: `http://127.0.0.1:${port}`, QDRANT_API_KEY: key }
}
