import { globSync } from 'node:fs'
import { counted, describe } from '../../shared/log/printable.ts'
import { keepCompiled } from '../../shared/process/node.ts'
import { onStopSignal, whenParentIsGone } from '../../shared/process/signals.ts'
import { startTestServers } from '../../test/servers.ts'
import { check, runFiles, type TestCounts } from './files.ts'
import { selectFiles } from './groups.ts'

/*
 * `npm test`: types, style, and the quick tests on real servers of this run alone. `--all` adds the
 * slow tests, `--long` the slow and the long ones (`groups.ts`). All servers are started once.
 * Other arguments select the files whose path contains one of them; types and style are then left
 * to `npm run check`. The last line is `N passed, N failed` of everything that ran, and CI reads
 * it.
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
  print('Usage: npm test [-- [--all | --long] [PART …]]\n')
  print('  --all   also the slow tests (*.slow.test.ts), after the quick ones: npm run test:all')
  print(
    '  --long  also the slow and the long tests (*.long.test.ts), an hour or more: npm run test:long',
  )
  print(
    '  PART    only the quick and slow test files whose path holds it, without types and style;',
  )
  print('          a long file needs --long or its whole path')
  process.exit(0)
}
const parts = process.argv.slice(2).filter(argument => !argument.startsWith('-'))
const counts: TestCounts = { passed: 0, failed: 0 }
const add = ({ passed, failed }: TestCounts) => {
  counts.passed += passed
  counts.failed += failed
}
const TESTS = '{services,status,search,shared,scripts,infra,test,bench,web}/**/*.test.ts'

try {
  const files = globSync(TESTS).filter(file => !file.includes('node_modules'))
  const has = (option: string) => process.argv.includes(option)
  const groups = selectFiles(files, { all: has('--all'), long: has('--long'), parts })
  if (groups.length === 0) throw new Error(`No test file's path holds ${parts.join(' or ')}.`)
  if (parts.length === 0) {
    const types = check('types (tsc)', ['tsc', '--noEmit'], print)
    add(await check('style (biome)', ['biome', 'check', '--colors=off', '.'], print))
    add(await types)
  }
  keepCompiled()

  const servers = await startTestServers({ report: print, signal: stopping.signal })
  process.on('exit', servers.kill)
  try {
    const env = { ...process.env, ...servers.settings, TEST_SUPERUSER_URL: servers.superuser }
    for (const [group, files] of groups) {
      const began = Date.now()
      add(await runFiles(files, { env, print, family: servers.family, signal: stopping.signal }))
      print(
        `${counted(files.length, `${group} test file`)} took ${Math.round((Date.now() - began) / 1_000)} s.`,
      )
    }
  } finally {
    await servers.stop()
  }
} catch (error) {
  counts.failed++
  print(describe(error))
}
print(`${counts.passed} passed, ${counts.failed} failed`)
process.exit(counts.failed === 0 ? 0 : 1)
