import t from 'tap'
import { createRandom } from '../../faults/random.ts'
import { quantile, startBesieged } from './besieged.ts'
import { besiege } from './siege.ts'

const ROUNDS = 5
const PER_ROUND = 40_000

t.setTimeout(3_600_000)

t.test(
  'issues 4.6 and 18.1: 200,000 requests: no 5xx, no hang, no growth of memory',
  { timeout: 3_600_000 },
  async t => {
    const { base, secret, memory, lastWords } = await startBesieged(t, 2_000)
    const sizes: (number | null)[] = []
    const times: number[] = []
    for (let round = 0; round < ROUNDS; round++) {
      const seed = Math.floor(Math.random() * 2 ** 31)
      const { answers, complaints, health, right } = await besiege(base, secret, createRandom(seed), PER_ROUND)
      sizes.push(await memory())
      times.push(...health)
      const ms = [0.5, 0.9, 0.99].map(part => Math.round(quantile(health, part))).join(', ')
      t.comment(`seed ${seed}: ${JSON.stringify(answers)}; /healthz ${ms} ms; ${right} right; ${sizes.at(-1)} MB`)
      t.strictSame(complaints.slice(0, 3), [], `seed ${seed}`)
    }
    t.equal(lastWords(), null, 'it is the process that was started')
    times.sort((a, b) => a - b)
    t.ok(quantile(times, 0.9) < 100, '/healthz answers within 100 ms')
    const [, warm = 0, ...rest] = sizes
    t.ok((rest.at(-1) ?? 0) - (warm ?? 0) < 60, `MB after each round: ${sizes.join(', ')}`)
  },
)
