import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { accountOf } from './accounts.ts'
import { serverKey } from './data-directory.ts'
import { CHECKOUT, makeEnvironment, type PythonEnvironment, pythonOf } from './environment.ts'
import type { Addresses, Keys, Starting } from './starting.ts'
import { askHttp, type Program } from './supervision/supervise.ts'

/** The packages of the embedded model server. */
export const MODEL_ENVIRONMENT: PythonEnvironment = {
  folder: join(CHECKOUT, '.venv'),
  requirements: fileURLToPath(new URL('requirements.txt', import.meta.url)),
  name: 'the embedded model server',
  size: '130 MB',
  processors: ['x64'],
  instead: 'semantic search is off until then, or set EMBEDDINGS_URL to a model server of your own',
}

/** Starts the model server on `port`. */
export async function startModel(starting: Starting, port: number): Promise<Addresses & Keys> {
  await makeEnvironment(MODEL_ENVIRONMENT, starting)
  const key = await serverKey(starting.dataDir, 'model')
  await starting.run(await modelProgram(starting.dataDir, port, key, starting.logOf('model')))
  return { EMBEDDINGS_URL: embeddingsUrl(port), EMBEDDINGS_API_KEY: key }
}

const SCRIPT = fileURLToPath(new URL('./model/serve.py', import.meta.url))

/** The address that takes texts, as OpenAI's does. */
export const embeddingsUrl = (port: number): string => `http://127.0.0.1:${port}/v1/embeddings`

/** The program `serve.py`: multilingual-e5-small, 384 dimensions. */
async function modelProgram(dataDir: string, port: number, key: string, log: string): Promise<Program> {
  const folder = join(dataDir, 'model')
  await mkdir(folder, { recursive: true })
  const account = accountOf('model')
  return {
    name: 'The model server',
    command: pythonOf(MODEL_ENVIRONMENT),
    // -E -s -B: Python ignores its environment variables and the user's packages, and writes no
    // compiled files beside the sources. Without --host the server listens on every address.
    args: ['-E', '-s', '-B', SCRIPT, '--host', '127.0.0.1', '--port', String(port)],
    cwd: folder,
    env: {
      ...{ PATH: process.env.PATH, LC_ALL: 'C.UTF-8' },
      ...{ MODEL_KEY: key, MODEL_ACCOUNT: account ? String(account.uid) : '' },
    },
    // The server changes to its account itself, because only root may be able to read Python.
    owner: null,
    log,
    isReady: async () => (await fetch(`http://127.0.0.1:${port}/health`, { signal: AbortSignal.timeout(2_000) })).ok,
    isAlive: askHttp(`http://127.0.0.1:${port}/health`),
    stop: [{ signal: 'SIGTERM', wait: 5_000 }],
    gentle: 'SIGTERM',
  }
}
