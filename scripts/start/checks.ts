import { readFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { accountOf, checkPassage } from '../../infra/embedded/accounts.ts'
import { errorCode, Problem } from '../../infra/embedded/files.ts'
import type { Config } from '../../shared/config/config.ts'

/** @throws Problem when the API could not listen on HOST and PORT */
export async function checkPort({ HOST: host, PORT: port }: Config): Promise<void> {
  const code = await new Promise<string>(resolve => {
    const server = createServer()
    server.once('error', error => resolve(errorCode(error)))
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve('')))
  })
  if (code === '') return
  const instead = 'set PORT to another one'
  if (code === 'EADDRINUSE') {
    throw new Problem(`Port ${port} on ${host} is in use by another program; end that, or ${instead}.`)
  }
  if (code === 'EACCES') throw new Problem(`Port ${port} needs more rights than this user has; ${instead}, above 1023.`)
  throw new Problem(`The API cannot listen on ${host} (${code}); set HOST to an address of this machine.`)
}

/** @throws Problem when the catalogue cannot be read; its contents are checked when it is loaded */
export async function checkCatalogue(file: string): Promise<void> {
  try {
    JSON.parse(await readFile(file, 'utf8'))
  } catch (error) {
    const why = error instanceof SyntaxError ? 'is not JSON' : `cannot be read (${errorCode(error)})`
    throw new Problem(`OUTLETS is ${file}, which ${why}; name a catalogue such as infra/outlets/benelux.json.`)
  }
}

/** Reports that the services will keep root's rights. Each service says so in its log too. */
export async function checkRights(report: (sentence: string) => void): Promise<void> {
  const checkout = fileURLToPath(new URL('../..', import.meta.url))
  await checkPassage(accountOf('services'), checkout, 'Each service').catch((error: Error) => {
    report(`${error.message.replace(/, or set DATA_DIR.*/, '')}; until then the services keep root's rights.`)
  })
}
