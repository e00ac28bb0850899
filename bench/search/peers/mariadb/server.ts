import { constants, existsSync } from 'node:fs'
import { access, chown, mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { postgresAccount } from '../../../../infra/embedded/accounts.ts'
import { freePort, isFree } from '../../../../infra/embedded/data-directory.ts'
import type { EmbeddedServers } from '../../../../infra/embedded/servers.ts'
import type { Supervised } from '../../../../infra/embedded/supervision/supervise.ts'
import { runTool } from '../../../../infra/embedded/supervision/tool.ts'

/** Debian's `mariadb-server` installs them there. */
const SERVER = '/usr/sbin/mariadbd'
const INSTALL = '/usr/bin/mariadb-install-db'
const INSTALL_MS = 120_000

/**
 * Settings without which full text leaves words out, and its memory. All others are the defaults.
 */
const SETTINGS = {
  'innodb-ft-min-token-size': '1',
  'innodb-ft-max-token-size': '84',
  'innodb-ft-enable-stopword': '0',
  'innodb-ft-sort-pll-degree': '2',
  'innodb-ft-result-cache-limit': '4294967295',
  'innodb-buffer-pool-size': '4G',
  'innodb-log-file-size': '1G',
  'innodb-flush-log-at-trx-commit': '0',
  'innodb-doublewrite': '0',
  'performance-schema': '0',
}

export const MARIADB_SETTINGS =
  'every word a token (innodb_ft_min_token_size 1, no stop words), innodb_buffer_pool_size 4 GB, innodb_ft_result_cache_limit 4 GB'

export interface MariadbServer {
  port: number
  server: Supervised
}

/**
 * Starts a MariaDB with its data in `folder`, on loopback, under the watch of the other servers.
 * @returns null, with a sentence to `report`, where there is none on this machine
 */
export async function startMariadb(
  folder: string,
  servers: EmbeddedServers,
  running: { signal: AbortSignal; report: (sentence: string) => void },
): Promise<MariadbServer | null> {
  const { signal, report } = running
  for (const program of [SERVER, INSTALL]) {
    const found = await access(program, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (found) continue
    report(`MariaDB is left out: there is no ${program}; "apt-get install mariadb-server" brings it.`)
    return null
  }
  const owner = await postgresAccount(report)
  const data = join(folder, 'data')
  const log = join(folder, 'mariadb.log')
  await mkdir(folder, { recursive: true })
  if (owner) await chown(folder, owner.uid, owner.gid)
  if (!existsSync(join(data, 'mysql'))) {
    await rm(data, { recursive: true, force: true })
    const installed = await runTool(
      INSTALL,
      ['--no-defaults', `--datadir=${data}`, '--auth-root-authentication-method=normal', '--skip-test-db'],
      { family: servers.family, signal, within: INSTALL_MS, cwd: folder, owner },
    )
    if (installed.code !== 0) {
      report(`MariaDB is left out: its data folder could not be made (${installed.output.trim().split('\n').at(-1)}).`)
      return null
    }
  }
  const port = await freePort()
  const server = await servers.supervise({
    name: 'MariaDB',
    command: SERVER,
    args: [
      '--no-defaults',
      `--datadir=${data}`,
      `--port=${port}`,
      '--bind-address=127.0.0.1',
      `--socket=${join(folder, 'mariadb.sock')}`,
      `--pid-file=${join(folder, 'mariadb.pid')}`,
      // Indexes are sorted there.
      `--tmpdir=${data}`,
      '--skip-log-bin',
      '--character-set-server=utf8mb4',
      '--collation-server=utf8mb4_bin',
      ...Object.entries(SETTINGS).map(([name, value]) => `--${name}=${value}`),
    ],
    cwd: folder,
    env: { PATH: process.env.PATH, TZ: 'UTC' },
    owner,
    log,
    isReady: async () => !(await isFree(port)),
    stop: [{ signal: 'SIGTERM', wait: 20_000 }],
    gentle: 'SIGTERM',
  })
  return { port, server }
}
