import { MODEL_ENVIRONMENT, makeEnvironment } from '../environment.ts'
import { serverKey } from '../keys.ts'
import type { Addresses, Keys, Starting } from '../starting.ts'
import { embeddingsUrl, modelProgram } from './server.ts'

/** Starts the model server on `port`. */
export async function startModel(starting: Starting, port: number): Promise<Addresses & Keys> {
  await makeEnvironment(MODEL_ENVIRONMENT, starting)
  const key = await serverKey(starting.dataDir, 'model')
  await starting.run(await modelProgram(starting.dataDir, port, key, starting.logOf('model')))
  return { EMBEDDINGS_URL: embeddingsUrl(port), EMBEDDINGS_API_KEY: key }
}
