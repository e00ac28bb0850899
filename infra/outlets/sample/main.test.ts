import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'

const program = fileURLToPath(new URL('./main.ts', import.meta.url))

/** Starts the program and waits for its catalogue. */
async function start(...args: string[]): Promise<{ child: ChildProcess; catalogue: string }> {
  const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(() => child.kill('SIGKILL'))
  let catalogue = ''
  for await (const chunk of child.stdout.setEncoding('utf8')) {
    catalogue += chunk
    if (catalogue.endsWith('\n}\n')) break
  }
  return { child, catalogue }
}

t.test('it prints the catalogue, keeps its ports in a file, and ends within a second of SIGTERM', async t => {
  const file = `${t.testdir({})}/ports.json`
  const first = await start('--ports-file', file)
  const { outlets }: { outlets: { feeds: string[] }[] } = JSON.parse(first.catalogue)
  t.equal(outlets.length, 12)
  t.equal((await fetch(outlets[0]?.feeds[0] ?? '')).status, 200)
  const asked = performance.now()
  first.child.kill('SIGTERM')
  const [code] = await once(first.child, 'exit')
  t.equal(code, 0)
  t.ok(performance.now() - asked < 1_000)
  const second = await start('--ports-file', file)
  t.equal(second.catalogue, first.catalogue)
  second.child.kill('SIGTERM')
  await once(second.child, 'exit')
})

t.test('a wrong option or a damaged file of ports ends it with a sentence', async t => {
  const run = (...args: string[]) => promisify(execFile)(process.execPath, [program, ...args])
  const dir = t.testdir({ 'ports.json': '{"dagkoerier.example": "a"}', 'broken.json': '{' })
  await t.rejects(run('--ports-file', `${dir}/ports.json`), { code: 1, stderr: /does not hold the ports.*remove it/ })
  await t.rejects(run('--ports-file', `${dir}/broken.json`), { code: 1, stderr: /does not hold the ports.*remove it/ })
  await t.rejects(run('--port', 'x'), { code: 1, stderr: /--port takes a number/ })
  await t.rejects(run('--nonsense'), { code: 1 })
  t.match((await run('--help')).stdout, '--ports-file FILE')
})
