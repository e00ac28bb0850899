import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { openDataDirectory } from '#infra/embedded/data-directory'
import { startServers } from '#infra/embedded/servers'
import { asRoot, CHECKOUT, runServers, temporaryFolder } from './running.ts'

t.test('what the operator has to change is said in one sentence', async t => {
  const folder = temporaryFolder(t)
  const refused = async (path: string, sentence: RegExp) => {
    const starting = openDataDirectory(path, 'a test').then(dataDir =>
      startServers(dataDir, { report: () => {} }).finally(() => dataDir.release()),
    )
    await t.rejects(starting, { message: sentence })
  }

  const file = join(folder, 'file')
  writeFileSync(file, '')
  const servers = runServers(file)
  t.equal(await servers.ended, 1)
  t.match(
    servers.said(),
    /^servers: DATA_DIR [^\n]*file is not a folder[^\n]*\.\n$/,
    'one line, no stack',
  )
  await refused(join(file, 'below'), /DATA_DIR .*below is not a folder/)

  // Nothing can be made there, not even by root.
  if (process.platform === 'linux') {
    await refused('/proc/perscope', /DATA_DIR \/proc\/perscope cannot (hold files|be written)/)
    await refused('/proc', /DATA_DIR \/proc cannot (hold files|be written)/)
  }

  const foreign = join(folder, 'foreign')
  mkdirSync(join(foreign, 'postgres'), { recursive: true })
  writeFileSync(join(foreign, 'postgres', 'letter.txt'), '')
  await refused(foreign, /holds no Postgres data; move it away/)

  const old = join(folder, 'old')
  mkdirSync(join(old, 'postgres'), { recursive: true })
  writeFileSync(join(old, 'postgres', 'PG_VERSION'), '16\n')
  await refused(old, /data of Postgres 16, and this is Postgres 18/)

  const closed = join(folder, 'closed')
  mkdirSync(closed)
  chmodSync(closed, asRoot ? 0o700 : 0o500)
  await refused(
    join(closed, 'data'),
    asRoot
      ? /user \w+, who cannot enter \S+closed \(mode 700\); run "chmod o\+x \S+closed"/
      : /cannot be written/,
  )
})

t.test(
  'without python3 everything but the model server runs, and one sentence says what is missing',
  async t => {
    // A checkout without .venv. Everything else in it is a link into the real checkout.
    const checkout = mkdtempSync(join(tmpdir(), 'perscope-checkout-'))
    chmodSync(checkout, 0o755)
    t.teardown(() => rmSync(checkout, { recursive: true, force: true }))
    for (const name of [
      'infra',
      'shared',
      'search',
      'status',
      'scripts',
      'node_modules',
      'package.json',
    ]) {
      symlinkSync(join(CHECKOUT, name), join(checkout, name))
    }
    const tools = join(checkout, 'tools')
    mkdirSync(tools)
    for (const tool of ['sh', 'id']) symlinkSync(`/usr/bin/${tool}`, join(tools, tool))
    const dataDir = join(checkout, 'data')
    const start = () =>
      runServers(dataDir, { PATH: tools }, [
        '--preserve-symlinks',
        '--preserve-symlinks-main',
        join(checkout, 'scripts', 'servers.ts'),
      ])
    const expectations = [
      [
        null,
        /^There is no python3 for the embedded model server; install it .*semantic search is off/m,
      ],
      [
        'ensurepip is not available',
        /^python3 has no venv module .*"apt-get install python3-venv" .*semantic search is off/m,
      ],
      [
        'out of luck',
        /^python3 could not make an environment .*\(out of luck\): semantic search is off/m,
      ],
    ] as const
    for (const [complaint, sentence] of expectations) {
      if (complaint !== null)
        writeFileSync(join(tools, 'python3'), `#!/bin/sh\necho '${complaint}'\nexit 1\n`, {
          mode: 0o755,
        })
      const servers = start()
      t.same(Object.keys(await servers.addresses()).sort(), [
        'DATABASE_URL',
        'QDRANT_API_KEY',
        'QDRANT_URL',
      ])
      t.match(servers.said(), sentence)
      t.equal(await servers.stop(), 0)
    }
  },
)
