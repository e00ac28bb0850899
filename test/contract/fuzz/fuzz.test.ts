import t from 'tap'
import { startTestApi } from '../api.ts'
import { fire } from './fire.ts'
import { chance } from './requests.ts'

t.setTimeout(280_000)

const COUNT = 2_000

t.test('issue 4.6: random and mutated requests get an answer of the contract, never a 5xx', async t => {
  const api = await startTestApi(t, { AUTH_LOCK_FAILURES: '5000' })
  const { secret } = await api.issue()
  await api.index(
    Array.from({ length: 200 }, (_, i) => ({ title: `De brug nummer ${i}`, body: 'Het water onder le pont.' })),
  )
  const seed = Math.floor(Math.random() * 2 ** 31)
  const { statuses, complaints } = await fire(Number(new URL(api.base).port), secret, chance(seed), COUNT)
  t.comment(`seed ${seed}: ${JSON.stringify(statuses)}`)
  t.strictSame(complaints.slice(0, 3), [], `seed ${seed}`)
  t.ok((statuses[200] ?? 0) > COUNT / 20, 'enough of them were right')
})
