import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { heard } from '#test/fleet'

// The tests mostly wait, so they can run at the same time.
t.jobs = 5

const MODULE = new URL('event-loop.ts', import.meta.url).href

/** Starts a process that watches itself with this limit (in ms), and then does `work`. */
function run(t: Test, work: string, limit = 3_000) {
  const program = `
    import { watchEventLoop } from '${MODULE}'
    watchEventLoop({ name: 'worker', limit: ${limit}, words: 'sentence' }, error => { throw error })
    const block = ms => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
    process.on('SIGTERM', () => process.exit(7))
    process.stdout.write('began')
    ${work}`
  const file = join(t.testdir({ 'program.mjs': program }), 'program.mjs')
  const child = spawn(process.execPath, [file], { stdio: ['ignore', 'pipe', 'pipe'] })
  const said = heard(child.stderr)
  const ended = new Promise<NodeJS.Signals | number | null>(resolve => {
    child.once('close', (code, signal) => resolve(signal ?? code))
  })
  t.teardown(() => child.kill('SIGKILL'))
  return { child, ended, said, began: new Promise(resolve => child.stdout.once('data', resolve)) }
}

t.test('a process that waits inside a system call is ended as well', async t => {
  const { ended, said } = run(
    t,
    `import { execFileSync } from 'node:child_process'
    setTimeout(() => execFileSync('sleep', ['60']), 100)`,
  )
  t.equal(await ended, 'SIGKILL')
  t.match(said(), /^worker: the event loop stood still for 3 s[^\n]*\n$/)
})

t.test('a process that was stopped for longer than the limit goes on', async t => {
  const { child, ended, said, began } = run(t, 'setInterval(() => {}, 1_000)', 5_000)
  await began
  for (let times = 0; times < 2; times++) {
    await pause(1_500)
    child.kill('SIGSTOP')
    await pause(8_000)
    child.kill('SIGCONT')
  }
  await pause(6_500)
  child.kill('SIGTERM')
  t.equal(await ended, 7)
  t.equal(said(), '')
})

t.test('work that takes long, again and again, ends nothing', async t => {
  const { child, ended, began } = run(t, 'setInterval(() => block(4_000), 1)', 12_000)
  await began
  await pause(16_000)
  child.kill('SIGTERM')
  t.equal(await ended, 7)
})

t.test('the watch does not hold a process that has nothing to do', async t => {
  t.equal(await run(t, '').ended, 0)
})

t.test('with 0 the event loop is not watched', async t => {
  t.equal(await run(t, 'block(5_000)', 0).ended, 0)
})
