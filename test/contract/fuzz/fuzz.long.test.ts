import { readFile } from 'node:fs/promises'
import t from 'tap'
import { createFleet } from '../../fleet.ts'
import { startTestApi } from '../api.ts'
import { fire } from './fire.ts'
import { chance } from './requests.ts'

const ROUNDS = 5
const PER_ROUND = 24_000

/** Resident memory of a process in MB, or null where there is no /proc. */
async function memory(pid: number): Promise<number | null> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  const kilobytes = /VmRSS:\s+(\d+)/.exec(status)?.[1]
  return kilobytes === undefined ? null : Math.round(Number(kilobytes) / 1_024)
}

t.setTimeout(3_600_000)

t.test('issue 4.6: 120,000 random requests: no 5xx, no hang, no growth of memory', { timeout: 3_600_000 }, async t => {
  // The articles come in by this process; the requests go to one of its own.
  const api = await startTestApi()
  t.teardown(() => api.stop())
  const { secret } = await api.issue({ rate: 1_000_000 })
  await api.index(
    Array.from({ length: 2_000 }, (_, i) => ({ title: `De brug nummer ${i}`, body: 'Het water onder le pont.' })),
  )
  const fleet = createFleet({
    DATABASE_URL: api.config.DATABASE_URL,
    LOG_LEVEL: 'warn',
    AUTH_LOCK_FAILURES: '2000',
    QDRANT_URL: '',
    EMBEDDINGS_URL: '',
  })
  t.teardown(() => fleet.stop())
  const member = await fleet.start('api')
  const port = Number(new URL(fleet.base()).port)
  const pid = member.process.pid ?? 0

  const sizes: (number | null)[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const seed = Math.floor(Math.random() * 2 ** 31)
    const { statuses, complaints } = await fire(port, secret, chance(seed), PER_ROUND)
    sizes.push(await memory(pid))
    t.comment(`seed ${seed}: ${JSON.stringify(statuses)}, ${sizes.at(-1)} MB`)
    t.strictSame(complaints.slice(0, 3), [], `seed ${seed}`)
  }
  t.equal(member.process.exitCode, null, 'it is the process that was started')
  const [, warm = 0, ...rest] = sizes
  t.ok((rest.at(-1) ?? 0) - (warm ?? 0) < 60, `MB after each round: ${sizes.join(', ')}`)
})
