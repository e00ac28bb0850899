import { spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { until } from '#test/fleet'
import { isWhole } from '#test/script'
import { openBox } from './hosts/box.ts'
import { processesBelow } from './hosts/network.ts'
import { etcd } from './scenarios/etcd.ts'
import { postgres } from './scenarios/postgres.ts'
import { proveScenario } from './scenarios/prove.ts'
import { qdrant } from './scenarios/qdrant.ts'
import { redis } from './scenarios/redis.ts'

/** Alone, only the first scenario runs; `test/whole.long.test.ts` runs all short ones. */
for (const scenario of isWhole ? [etcd, postgres, qdrant, redis] : [etcd]) proveScenario(scenario)
if (isWhole) proveScenario({ ...etcd, about: `On loopback: ${etcd.about}` }, { loopback: true })

const SCRIPT = fileURLToPath(new URL('main.ts', import.meta.url))
const listed = (folder: string) => {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

const onlyWhole = { skip: !isWhole && 'npm run test:long tries it' }

t.test('what a killed run has left is removed by the next one', onlyWhole, async t => {
  const folder = await mkdtemp(join(tmpdir(), 'perscope-runs-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const runner = spawn(process.execPath, [SCRIPT, '--scenario', 'etcd'], {
    env: { ...process.env, TMPDIR: folder },
    stdio: 'ignore',
  })
  const runFolder = () =>
    listed(folder).find(name => name.startsWith(`perscope-fleet-${runner.pid}-`))
  const hasHosts = () => listed(join(folder, runFolder() ?? '')).includes('three')
  await until(() => hasHosts() || runner.exitCode !== null, 60_000)
  t.ok(hasHosts(), 'the run has begun')
  runner.kill('SIGKILL')
  await until(() => runner.signalCode !== null, 10_000)

  const before = process.env.TMPDIR
  process.env.TMPDIR = folder
  t.teardown(() => {
    if (before === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = before
  })
  const box = await openBox(() => {}, null)
  t.teardown(() => box.close(false))
  t.notOk(runFolder(), 'its folder is gone')
  await until(() => processesBelow(folder).every(pid => pid === process.pid), 20_000)
  const left = [...listed('/run/netns'), ...listed('/sys/class/net')].filter(name =>
    name.includes(`${runner.pid}`),
  )
  t.same(left, [], 'its namespaces and links are gone')
})
