import { glob } from 'node:fs/promises'
import { whenParentIsGone } from '../../shared/process/parent.ts'
import { onStopSignal } from '../../shared/process/signals.ts'
import { startTestServers } from '../../test/servers.ts'
import { check } from './checks.ts'
import { runFiles } from './files.ts'

/*
 * `npm test`: types, style, and every test on real servers of this run alone. Ends with `N passed, N failed`.
 * `--long` adds the tests that take longer (`*.long.test.ts`). Other arguments choose the files whose path holds one, and
 * leave types and style to `npm run check`.
 */
const LONG = '.long.test.ts'

const print = (line: string) => void process.stdout.write(`${line}\n`)
const stopping = new AbortController()
onStopSignal(
  () => stopping.abort(),
  () => process.exit(130),
)
whenParentIsGone(() => stopping.abort())

if (process.argv.includes('--help') || process.argv.includes('-h')) {
  print('Installs what is missing, then checks types and style and runs the tests on servers of their own.\n')
  print('Usage: npm test [-- [--long] [PART …]]\n')
  print('  --long  also the tests that take many minutes')
  print('  PART    only the test files whose path holds it, without types and style')
  process.exit(0)
}
const long = process.argv.includes('--long')
const chosen = process.argv.slice(2).filter(argument => !argument.startsWith('-'))
const counts = { passed: 0, failed: 0 }

try {
  if (chosen.length === 0) {
    const checks = await Promise.all([
      check('types (tsc)', ['tsc', '--noEmit'], print),
      check('style (biome)', ['biome', 'check', '--colors=off', '.'], print),
    ])
    for (const passed of checks) counts[passed ? 'passed' : 'failed']++
  }

  const servers = await startTestServers({ report: print, signal: stopping.signal })
  process.on('exit', servers.kill)
  try {
    const env = { ...process.env, ...servers.settings }
    const tests = await runFiles(await testFiles(), {
      ...{ long, env, print },
      family: servers.family,
      signal: stopping.signal,
    })
    counts.passed += tests.passed
    counts.failed += tests.failed
  } finally {
    await servers.stop()
  }
} catch (error) {
  counts.failed++
  print(error instanceof Error ? error.message : String(error))
}
print(`${counts.passed} passed, ${counts.failed} failed`)
process.exit(counts.failed === 0 ? 0 : 1)

async function testFiles(): Promise<string[]> {
  const files: string[] = []
  for await (const file of glob('{services,search,shared,scripts,infra,test,bench}/**/*.test.ts')) {
    if (file.includes('node_modules') || (file.endsWith(LONG) && !long)) continue
    if (chosen.length === 0 || chosen.some(part => file.includes(part))) files.push(file)
  }
  if (files.length === 0) throw new Error(`No test file's path holds ${chosen.join(' or ')}.`)
  // Those against real servers take longest: first, so that the short ones fill the gaps.
  const isLong = (file: string) => Number(file.startsWith('test/'))
  return files.sort((a, b) => isLong(b) - isLong(a) || (a < b ? -1 : 1))
}
