import { existsSync } from 'node:fs'
import { readdir, realpath } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  checkPassage,
  type Owner,
  openPrograms,
  ownerCan,
  postgresAccount,
} from '#infra/embedded/accounts'
import { makeEnvironment, type PythonEnvironment, pythonOf } from '#infra/embedded/environment'
import { Problem } from '#infra/embedded/files'
import { postgresPrograms } from '#infra/embedded/postgres-tools'
import type { Stage } from '#test/fleet/scenarios/scenario'
import { debianPython, MissingProgram, type Tool } from './debian.ts'

const ENVIRONMENT: PythonEnvironment = {
  folder: fileURLToPath(new URL('../../../.venv-patroni', import.meta.url)),
  requirements: fileURLToPath(new URL('patroni-requirements.txt', import.meta.url)),
  name: 'Patroni',
  processors: ['x64'],
  size: '5 MB',
  instead: 'scenarios with Patroni are skipped until then',
}
/** No watchdog: pip ends by itself, also without this process. */
const ALONE = { adopt() {}, release() {} }

/** Patroni, and the Postgres that it runs. */
export interface PatroniPrograms extends Tool {
  /** Words after the command and before Patroni's own. */
  args: readonly string[]
  /** Folder of pg_ctl, pg_basebackup, pg_rewind and the server. */
  postgres: string
  /** The account of Postgres, which refuses to run as root. */
  owner: Owner | null
}

/**
 * A Python that the account can run: the one on the PATH may lie below /root.
 *
 * @param version as `python3.11`: the packages hold binaries for this version alone
 */
async function pythonFor(owner: Owner | null, version: string): Promise<string> {
  const own = await realpath(pythonOf(ENVIRONMENT))
  for (const path of [own, ...['/usr/local/bin', '/usr/bin'].map(place => join(place, version))]) {
    if (existsSync(path) && (owner === null || (await ownerCan(owner, '-x', path)))) return path
  }
  throw new Problem(
    `The account ${owner?.name} can run no ${version}; install Debian's ${version}.`,
  )
}

/** @throws MissingProgram where it cannot be installed */
export async function patroniPrograms({ box, say, signal }: Stage): Promise<PatroniPrograms> {
  try {
    const running = { family: ALONE, signal, report: say }
    await makeEnvironment(ENVIRONMENT, running)
    const lib = join(ENVIRONMENT.folder, 'lib')
    const python = (await readdir(lib)).find(name => name.startsWith('python')) ?? ''
    const postgres = await postgresPrograms(ENVIRONMENT.instead, running)
    const etcd = await debianPython('etcd', 'python3-etcd')
    // `patronictl` alone needs it, which does not run under the account.
    const cdiff = await debianPython('cdiff.py', 'python3-cdiff')
    const owner = await postgresAccount(say)
    await checkPassage(owner, box.folder, 'Postgres')
    // The account may not be able to enter the checkout.
    const opened = (folder: string, parts: string[], name: string) =>
      openPrograms(folder, parts, name, box.folder, owner)
    const packages = await opened(join(lib, python, 'site-packages'), ['patroni'], 'patroni')
    const modules = await opened(etcd, ['etcd'], 'python-etcd')
    const server = await opened(postgres, ['bin/postgres', 'share/postgres.bki'], 'postgres')
    return {
      command: await pythonFor(owner, python),
      args: ['-m', 'patroni'],
      env: { PYTHONPATH: [packages, modules, cdiff].join(delimiter), PYTHONDONTWRITEBYTECODE: '1' },
      postgres: join(server, 'bin'),
      owner,
    }
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    throw new MissingProgram(error.message)
  }
}
