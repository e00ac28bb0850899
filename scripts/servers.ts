import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { resolve } from 'node:path'
import { openDataDirectory } from '#infra/embedded/data-directory'
import { writeWhole } from '#infra/embedded/files'
import { startServers } from '#infra/embedded/servers'
import { envLines } from '#shared/config/embedded'
import { type Command, runCommand } from '#shared/process/command'
import { watchEventLoop } from '#shared/process/event-loop'
import { whenParentIsGone } from '#shared/process/signals'
import { FIRST } from '#status/causes'

/** ms between two checks that DATA_DIR exists. */
const LOOK = 5_000

const command: Command = {
  name: 'servers',
  lasting: true,
  about:
    'Runs Postgres, Qdrant and a model server of our own on loopback, with their data under DATA_DIR, until SIGTERM.',
  usage: ['[--write-env FILE]'],
  options: {
    'write-env': {
      value: 'FILE',
      about:
        'writes their addresses and keys to FILE as DATABASE_URL=… lines once all accept connections; else to standard output',
    },
  },
}

await runCommand(command, async ({ config, options, say, print, signal }) => {
  whenParentIsGone(() => process.emit('SIGTERM'))
  watchEventLoop({ name: 'servers', limit: config.EVENT_LOOP_TIMEOUT, words: 'sentence' }, error =>
    say(error.message),
  )

  const dataDir = await openDataDirectory(
    config.DATA_DIR,
    `npm run servers (process ${process.pid})`,
  )
  const file = options['write-env']
  // A program that waits for the file must not read the addresses of an earlier run.
  if (typeof file === 'string') await rm(resolve(file), { force: true })
  const servers = await startServers(dataDir, { report: say, signal }).catch(error => {
    if (!signal.aborted) throw error
    return null
  })
  if (!servers) return
  const looking = setInterval(() => {
    if (existsSync(dataDir.path)) return
    say(`DATA_DIR ${dataDir.path} was removed while it was in use: ${FIRST.removed}.`)
    clearInterval(looking)
  }, LOOK)
  // A second signal ends this process at once, and this handler then ends the servers, too.
  process.on('exit', servers.kill)
  try {
    if (signal.aborted) return
    if (typeof file === 'string') {
      await writeWhole(resolve(file), envLines({ ...servers.settings }))
      say(`The servers are up; their addresses and keys are in ${file}.`)
    } else {
      for (const [name, address] of Object.entries(servers.addresses)) print(`${name}=${address}`)
    }
    const problem = await Promise.race([servers.lost, once(signal, 'abort').then(() => null)])
    if (problem) throw problem
  } finally {
    clearInterval(looking)
    await servers.stop()
    dataDir.release()
  }
})
