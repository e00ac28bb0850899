import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { openDataDirectory } from '#infra/embedded/data-directory'
import { ask } from '#test/database'
import { heard, until } from '#test/fleet'
import { CHECKOUT, descendants, rootOnly, runServers, SERVERS, temporaryFolder } from './running.ts'

const NOBODY = 65_534
const namespaces = canUnshare()
  ? {}
  : { skip: 'this machine lets us make no network and process namespaces' }

function canUnshare(): boolean {
  return (
    spawnSync('unshare', [
      '--net',
      '--pid',
      '--fork',
      '--mount-proc',
      'ip',
      'link',
      'set',
      'lo',
      'up',
    ]).status === 0
  )
}

/**
 * A process that runs the script of a module and stays; resolves once it has written a line, or
 * ended.
 */
async function staying(test: Test, script: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  test.teardown(() => child.kill('SIGKILL'))
  await Promise.race([once(child.stdout, 'data'), once(child, 'exit')])
  return child
}

const holding = (folder: string) => `
  const { openDataDirectory } = await import(${JSON.stringify(join(CHECKOUT, 'infra/embedded/data-directory.ts'))})
  await openDataDirectory(${JSON.stringify(folder)}, 'a test (process ' + process.pid + ')')
  setInterval(() => {}, 1000)
  console.log('held')`

t.test('a second process is told who holds DATA_DIR; a SIGKILL of the holder frees it', async t => {
  const folder = temporaryFolder(t)
  const holder = await staying(t, holding(folder))
  await t.rejects(openDataDirectory(folder, 'second'), {
    message: `DATA_DIR ${folder} is in use by a test (process ${holder.pid}); end that on ${hostname()} first, or set DATA_DIR to another folder.`,
  })
  t.equal(statSync(join(folder, 'lock')).mode & 0o777, 0o600)
  holder.kill('SIGKILL')
  await once(holder, 'exit')
  const taken = await openDataDirectory(folder, 'third')
  await t.rejects(openDataDirectory(folder, 'fourth'), /in use by third/)
  taken.release()
  taken.release()
  const again = await openDataDirectory(folder, 'fifth')
  // Whoever empties the folder takes the lock's file with it: nobody may hold one that is not
  // there.
  rmSync(join(folder, 'lock'))
  again.release()
  const last = await openDataDirectory(folder, 'sixth')
  t.match(readFileSync(join(folder, 'lock'), 'utf8'), /^sixth\n/)
  last.release()
})

t.test('programs that a holder started do not hold the lock', async t => {
  const folder = temporaryFolder(t)
  const orphan = `
    import { spawn } from 'node:child_process'
    ${holding(folder).replace("console.log('held')", "console.log(spawn('sleep', ['60'], { detached: true, stdio: 'ignore' }).pid)")}`
  const child = spawn(process.execPath, ['--input-type=module', '-e', orphan], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line]: unknown[] = await once(child.stdout, 'data')
  const sleeper = Number(String(line))
  t.teardown(() => process.kill(sleeper, 'SIGKILL'))
  child.kill('SIGKILL')
  await once(child, 'exit')
  const taken = await openDataDirectory(folder, 'second')
  taken.release()
})

t.test('no other account can take the lock first', rootOnly, async t => {
  const folder = temporaryFolder(t)
  const first = await openDataDirectory(folder, 'first')
  first.release()
  const { status } = spawnSync('flock', ['-n', join(folder, 'lock'), 'true'], {
    uid: NOBODY,
    gid: NOBODY,
  })
  t.not(status, 0, 'it cannot open the file')

  rmSync(join(folder, 'lock'))
  writeFileSync(join(folder, 'lock'), '', { mode: 0o666 })
  chownSync(join(folder, 'lock'), NOBODY, NOBODY)
  await t.rejects(openDataDirectory(folder, 'second'), /lock belongs to another user/)
})

t.test('servers wait for those of a killed start that are still ending, out of sight', async t => {
  const folder = temporaryFolder(t)
  const began = Date.now()
  // What a postmaster and its backends in another container look like from here.
  const dying = spawn('flock', [join(folder, 'postgres.lock'), 'sleep', '4'], { stdio: 'ignore' })
  const gone = once(dying, 'exit').then(() => Date.now())
  await until(() => existsSync(join(folder, 'postgres.lock')), 30_000)
  const servers = runServers(folder)
  const env = await servers.addresses()
  t.ok(Date.now() >= (await gone) && Date.now() - began > 4_000, 'they are up after it, not before')
  t.equal((await ask(env.DATABASE_URL ?? '', 'select')).length, 1)

  const postmaster = Number(
    readFileSync(join(folder, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0],
  )
  const links = execFileSync('ls', ['-l', `/proc/${postmaster}/fd`], { encoding: 'utf8' })
  t.match(links, join(folder, 'postgres.lock'), 'Postgres has its lock open')
  t.notMatch(links, join(folder, 'lock\n'), 'and not the lock of DATA_DIR')
  t.equal(await servers.stop(), 0)
})

t.test('two network namespaces do not run on one DATA_DIR', namespaces, async t => {
  const folder = temporaryFolder(t)
  const file = join(folder, 'env')
  const dataDir = join(folder, 'data')
  // A container: its own network, its own processes; of which the first is no server.
  const container = spawn(
    'unshare',
    [
      '--net',
      '--pid',
      '--fork',
      '--kill-child',
      '--mount-proc',
      'sh',
      '-c',
      `ip link set lo up; "$0" "$1" --write-env "$2" & wait`,
      process.execPath,
      SERVERS,
      file,
    ],
    { env: { ...process.env, DATA_DIR: dataDir }, stdio: ['ignore', 'ignore', 'pipe'] },
  )
  t.teardown(() => container.kill('SIGKILL'))
  const words = heard(container.stderr)
  await until(() => existsSync(file), 120_000, words)
  const pidFile = join(dataDir, 'postgres', 'postmaster.pid')
  const before = readFileSync(pidFile, 'utf8')

  const second = runServers(dataDir)
  t.equal(await second.ended, 1, 'the host is refused')
  t.match(
    second.said(),
    /^servers: DATA_DIR \S+ is in use by npm run servers \(process \d+\); end that on \S+ first, /,
  )
  t.equal(readFileSync(pidFile, 'utf8'), before, 'and leaves the guard of Postgres alone')

  const members = descendants(container.pid ?? 0)
  const supervisor = members.find(({ command }) => command.includes(SERVERS))
  process.kill(supervisor?.pid ?? 0, 'SIGKILL')
  const third = runServers(dataDir)
  const env = await third.addresses()
  const postmasters = descendants(container.pid ?? 0).filter(({ command }) =>
    command.includes(join('bin', 'postgres')),
  )
  t.same(postmasters, [], 'it runs when the servers of the killed one are gone')
  t.equal((await ask(env.DATABASE_URL ?? '', 'select')).length, 1)
  t.equal(await third.stop(), 0)
})
