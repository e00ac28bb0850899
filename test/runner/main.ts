import { globSync, writeFileSync } from 'node:fs'
import { counted, describe } from '#shared/log/printable'
import { onStopSignal, whenParentIsGone } from '#shared/process/signals'
import { startTestServers } from '#test/servers'
import { check, processorSeconds, runFiles, type TestCounts, type TestRun } from './files.ts'
import { mayShare, readTimes, selectFiles, shareProcesses, TIMES } from './groups.ts'

/*
 * `npm test`: types, style, and the quick tests on real servers of this run alone. `--all` adds the
 * slow tests, `--long` the slow and the long ones (`groups.ts`). All servers are started once.
 * Other arguments select the files whose path contains one of them; types and style are then left
 * to `npm run check`. `--record` keeps the time of each file, by which later runs are ordered. The
 * last line is `N passed, N failed` of everything that ran, and CI reads it.
 */
const print = (line: string) => void process.stdout.write(`${line}\n`)
const stopping = new AbortController()
onStopSignal(
  () => stopping.abort(),
  () => process.exit(130),
)
whenParentIsGone(() => stopping.abort())

if (process.argv.includes('--help') || process.argv.includes('-h')) {
  print(
    'Installs what is missing, then checks types and style and runs the tests on servers of their own.\n',
  )
  print('Usage: npm test [-- [--all | --long] [--record] [PART …]]\n')
  print('  --all     also the slow tests (*.slow.test.ts), after the quick ones: npm run test:all')
  print(
    '  --long    also the slow and the long tests (*.long.test.ts), an hour or more: npm run test:long',
  )
  print(
    '  PART      only the quick and slow test files whose path holds it, without types and style;',
  )
  print('            a long file needs --long or its whole path')
  print('  --record  keeps the time of each file in test/runner/times.json')
  process.exit(0)
}
const parts = process.argv.slice(2).filter(argument => !argument.startsWith('-'))
const counts: TestCounts = { passed: 0, failed: 0 }
const again: TestRun['again'] = []
const add = ({ passed, failed }: TestCounts) => {
  counts.passed += passed
  counts.failed += failed
}
const TESTS = '{services,status,search,shared,scripts,infra,test,bench,web}/**/*.test.ts'

try {
  const files = globSync(TESTS).filter(file => !file.includes('node_modules'))
  const has = (option: string) => process.argv.includes(option)
  const times = readTimes()
  const groups = selectFiles(files, { all: has('--all'), long: has('--long'), parts }, times)
  if (groups.length === 0) throw new Error(`No test file's path holds ${parts.join(' or ')}.`)
  // The checks run beside the servers' start and the first files. The mutants of what changed
  // lately take five minutes of idle processors.
  const lately = ['node', 'test/mutants/mutate.ts', '--since', 'HEAD~50']
  const checks =
    parts.length > 0
      ? []
      : [
          check('types (tsc)', ['tsc', '--noEmit'], print),
          check('types of pages (tsc)', ['tsc', '--noEmit', '-p', 'web'], print),
          check('style (biome)', ['biome', 'check', '--colors=off', '.'], print),
          ...(has('--all') || has('--long')
            ? [check('mutants of what changed', lately, print)]
            : []),
        ]

  // No quick test asks the model, which starts last of all.
  const isQuick = groups.every(([group]) => group === 'quick')
  const servers = await startTestServers({
    servers: ['postgres', 'qdrant', ...(isQuick ? [] : (['model'] as const))],
    // Long tests may have more data than fits.
    inMemory: groups.every(([group]) => group !== 'long'),
    report: print,
    signal: stopping.signal,
  })
  process.on('exit', servers.kill)
  try {
    const env = { ...process.env, ...servers.settings, TEST_SUPERUSER_URL: servers.superuser }
    const options = { env, print, family: servers.family, signal: stopping.signal }
    for (const [group, files] of groups) {
      const began = Date.now()
      const run = await runFiles(shareProcesses(files, times, mayShare), options)
      add(run)
      again.push(...run.again)
      Object.assign(times, run.times)
      print(
        `${counted(files.length, `${group} test file`)} took ${Math.round((Date.now() - began) / 1_000)} s.`,
      )
    }
    for (const result of await Promise.all(checks)) add(result)
    if (has('--record')) {
      const kept = Object.entries(times).filter(([file]) => files.includes(file))
      writeFileSync(TIMES, `${JSON.stringify(Object.fromEntries(kept.sort()), null, 2)}\n`)
    }
  } finally {
    await servers.stop()
    // The servers have ended, too.
    const seconds = processorSeconds()
    if (seconds) print(`All of it took ${Math.round(seconds)} s of processor time.`)
  }
} catch (error) {
  counts.failed++
  print(describe(error))
}
if (again.length > 0) {
  const inWords = again.map(({ file, isGreen }) => `${file} (${isGreen ? 'green' : 'red'})`)
  print(`${counted(again.length, 'red file')} ran once more, alone: ${inWords.join(', ')}`)
}
print(`${counts.passed} passed, ${counts.failed} failed`)
process.exit(counts.failed === 0 ? 0 : 1)
