import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import t from 'tap'
import { createFamily } from '#infra/embedded/supervision/family'
import { runFiles } from './files.ts'

t.test('assertions are counted; a file that breaks off is a failure', async t => {
  mkdirSync('.tap', { recursive: true })
  // The folder is inside the checkout, because the files in it import tap.
  const folder = mkdtempSync(join('.tap', 'trial-'))
  const family = await createFamily(folder)
  t.teardown(() => {
    family.disband()
    rmSync(folder, { recursive: true, force: true })
  })
  const files = {
    'good.test.ts':
      "import t from 'tap'\nt.test('good', async t => { t.ok(1); t.ok(2); t.comment('12 of 12') })\n",
    'bad.test.ts':
      "import t from 'tap'\nt.test('bad', async t => { t.ok(1); t.equal(1, 2, 'one is two') })\n",
    'broken.test.ts': "import t from 'tap'\nt.ok(1)\nprocess.exit(3)\n",
    'silent.test.ts': 'process.exit(0)\n',
    'unreadable.test.ts': 'const = 1\n',
    'rejected.test.ts': "import t from 'tap'\nt.ok(1)\nawait Promise.reject(new Error('no'))\n",
    'leftover.test.ts':
      "import t from 'tap'\nt.ok(1)\nt.teardown(() => { throw new Error('no') })\n",
    'late.test.ts':
      "import t from 'tap'\nt.ok(1)\nsetTimeout(() => { throw new Error('late') }, 20)\n",
    'foreign.test.ts': 'export {}\n',
    'skipping.test.ts':
      "import t from 'tap'\nt.test('maybe', { skip: 'no redis-server' }, async t => { t.ok(1) })\n",
    'nervous.test.ts': `import { existsSync, writeFileSync } from 'node:fs'
import t from 'tap'
t.ok(existsSync('${folder}/tried'), 'not at once')
writeFileSync('${folder}/tried', '')
`,
    // A process in a session of its own keeps the streams open.
    'leaving.test.ts': `import { spawn } from 'node:child_process'
import t from 'tap'
const left = spawn('sleep', ['600'], { stdio: 'inherit', detached: true })
left.unref()
t.ok(1); t.comment('left ' + left.pid)
`,
  }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  for (let at = 0; at < 5; at++)
    writeFileSync(join(folder, `good${at}.test.ts`), files['good.test.ts'])
  const runProcesses = async (processes: string[][]) => {
    const lines: string[] = []
    const env = Object.fromEntries(
      Object.entries(process.env).filter(([name]) => !name.startsWith('TAP')),
    )
    const counts = await runFiles(
      processes.map(names => names.map(name => join(folder, name))),
      { env, family, signal: new AbortController().signal, print: line => void lines.push(line) },
    )
    return { counts, text: lines.join('\n') }
  }
  const run = (...names: (keyof typeof files)[]) => runProcesses(names.map(name => [name]))

  const good = await run('good.test.ts')
  t.match(good.counts, { passed: 2, failed: 0, again: [] })
  t.match(good.text, /^\[1\/1\] ok .*good\.test\.ts [\d.]+ s(, [\d.]+ s of processor)?$/m)
  t.match(good.text, '# 12 of 12', 'measurements are shown')

  const mixed = await run('good.test.ts', 'bad.test.ts')
  t.match(mixed.counts, { passed: 3, failed: 1 })
  t.match(mixed.counts.again, [{ file: /bad/, isGreen: false }])
  t.match(mixed.text, /FAILED .*bad\.test\.ts/)
  t.match(mixed.text, 'one is two', 'the failure is shown')

  for (const name of ['broken.test.ts', 'silent.test.ts', 'unreadable.test.ts'] as const) {
    const { counts } = await run(name, 'good.test.ts')
    t.ok(counts.failed === 1 && counts.passed >= 2, name)
  }

  const together = await runProcesses([['good.test.ts', 'skipping.test.ts']])
  t.match(together.counts, { passed: 2, failed: 0, again: [] })
  t.match(
    together.text,
    /^\[1\/2\] ok \S*good\S* .*# 12 of 12.*^\[2\/2\] ok \S*skipping\S* .*left out: # SKIP no redis/ms,
    'each file of a process is told by itself',
  )
  const parted = await runProcesses([
    ['good.test.ts', 'late.test.ts', 'bad.test.ts', 'nervous.test.ts'],
  ])
  parted.counts.again.sort((a, b) => (a.file < b.file ? -1 : 1))
  t.match(
    parted.counts,
    {
      passed: 5,
      failed: 2,
      again: [
        { file: /bad/, isGreen: false },
        { file: /late/, isGreen: false },
        { file: /nervous/, isGreen: true },
      ],
    },
    'a late error is found, too, that was told beside a red file',
  )
  t.match(
    parted.text,
    /^A process of 4 files failed.*one is two.*not at once.*^\[\d\/4\] FAILED, alone \S*bad/ms,
    'what was red beside others is shown, and runs alone',
  )
  rmSync(join(folder, 'tried'))
  const interrupted = await runProcesses([['broken.test.ts', 'silent.test.ts', 'good.test.ts']])
  t.match(interrupted.counts, { passed: 3, failed: 2 }, 'those after one that ends the process run')
  const hidden = [
    'unreadable.test.ts',
    'rejected.test.ts',
    'leftover.test.ts',
    'late.test.ts',
    'foreign.test.ts',
  ] as const
  const beside = await runProcesses(hidden.map((name, at) => [name, `good${at}.test.ts`]))
  t.equal(beside.counts.failed, hidden.length, 'no error of a file is hidden by its neighbour')
  const red = beside.counts.again.flatMap(({ file, isGreen }) => (isGreen ? [] : [basename(file)]))
  t.same(red.toSorted(), hidden.toSorted())

  const nervous = await run('nervous.test.ts', 'good.test.ts')
  t.match(nervous.counts, { passed: 3, failed: 0 }, 'red beside others, green alone')
  t.match(nervous.counts.again, [{ file: /nervous/, isGreen: true }], 'which is told')
  t.match(
    nervous.text,
    /FAILED .*nervous.*not at once.*ok, alone .*nervous/s,
    'its first failure is shown',
  )

  const skipping = await run('skipping.test.ts')
  t.match(skipping.counts, { passed: 0, failed: 0 })
  t.match(skipping.text, 'left out: # SKIP no redis-server')

  const leaving = await run('leaving.test.ts')
  t.match(leaving.counts, { passed: 1, failed: 0 })
  t.ok(
    process.kill(Number(/left (\d+)/.exec(leaving.text)?.[1]), 'SIGKILL'),
    'what a file leaves behind still runs',
  )
})
