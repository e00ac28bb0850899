import { statSync } from 'node:fs'
import t from 'tap'
import { until } from '../fleet.ts'
import { startCores } from './cores.ts'

t.setTimeout(280_000)

// Root's services change their account, and find a folder that root has made for them.
const foreign =
  statSync('node_modules').uid === process.geteuid?.() ? false : 'node_modules belongs to another account than ours'

t.test('a process takes its code from the cache that another one has left', { skip: foreign }, async t => {
  const cores = await startCores({ NODE_DEBUG_NATIVE: 'COMPILE_CACHE', NODE_V8_COVERAGE: '' })
  t.teardown(() => cores.stop())
  // Both have loaded their code by then, so what follows is of the process that comes next.
  await cores.serving(2)
  let kept = 0
  let rest = ''
  cores.primary.process.stderr?.on('data', (text: string) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    kept += lines.filter(line => line.includes('/services/api/serve.ts was accepted')).length
  })
  const [first = 0] = cores.pids()
  t.ok(first > 0)
  process.kill(first, 'SIGKILL')
  await until(
    () => kept > 0,
    60_000,
    () => `no process found the cache: ${cores.primary.log().slice(-2_000)}`,
  )
})
