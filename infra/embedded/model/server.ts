import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { accountOf } from '../owner.ts'
import type { Program } from '../supervision/program.ts'
import { askHttp } from '../supervision/silence.ts'
import { PYTHON } from './environment.ts'

const SCRIPT = fileURLToPath(new URL('serve.py', import.meta.url))

/** Where texts are posted to, OpenAI's way. */
export const embeddingsUrl = (port: number): string => `http://127.0.0.1:${port}/v1/embeddings`

/** `serve.py` as the supervisor runs it: multilingual-e5-small, 384 dimensions. */
export async function modelProgram(dataDir: string, port: number, key: string, log: string): Promise<Program> {
  const folder = join(dataDir, 'model')
  await mkdir(folder, { recursive: true })
  const account = accountOf('model')
  return {
    name: 'The model server',
    command: PYTHON,
    // -E -s -B: nothing from the environment's or the user's Python, and no compiled files beside
    // the sources. Its default host is every address of the machine.
    args: ['-E', '-s', '-B', SCRIPT, '--host', '127.0.0.1', '--port', String(port)],
    cwd: folder,
    env: {
      ...{ PATH: process.env.PATH, LC_ALL: 'C.UTF-8' },
      ...{ MODEL_KEY: key, MODEL_ACCOUNT: account ? String(account.uid) : '' },
    },
    // It changes to its account by itself: Python may lie where only root can go.
    owner: null,
    log,
    isReady: async () => (await fetch(`http://127.0.0.1:${port}/health`, { signal: AbortSignal.timeout(2_000) })).ok,
    isAlive: askHttp(`http://127.0.0.1:${port}/health`),
    stop: [{ signal: 'SIGTERM', wait: 5_000 }],
    gentle: 'SIGTERM',
  }
}
