import t from 'tap'
import { startBesieged } from './besieged.ts'
import { fire } from './fire.ts'
import { chance } from './requests.ts'

const ROUNDS = 5
const PER_ROUND = 24_000

t.setTimeout(3_600_000)

t.test('issue 4.6: 120,000 random requests: no 5xx, no hang, no growth of memory', { timeout: 3_600_000 }, async t => {
  const { base, secret, memory, lastWords } = await startBesieged(t, 2_000)
  const sizes: (number | null)[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const seed = Math.floor(Math.random() * 2 ** 31)
    const { statuses, complaints } = await fire(Number(new URL(base).port), secret, chance(seed), PER_ROUND)
    sizes.push(await memory())
    t.comment(`seed ${seed}: ${JSON.stringify(statuses)}, ${sizes.at(-1)} MB`)
    t.strictSame(complaints.slice(0, 3), [], `seed ${seed}`)
  }
  t.equal(lastWords(), null, 'it is the process that was started')
  const [, warm = 0, ...rest] = sizes
  t.ok((rest.at(-1) ?? 0) - (warm ?? 0) < 60, `MB after each round: ${sizes.join(', ')}`)
})
