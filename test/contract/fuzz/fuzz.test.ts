import t from 'tap'
import { createRandom } from '../../faults/random.ts'
import { quantile, startBesieged } from './besieged.ts'
import { besiege } from './siege.ts'

t.setTimeout(280_000)

const COUNT = 5_000

t.test('issues 4.6 and 18.1: whatever comes in gets an answer of the contract, others theirs at once', async t => {
  const { base, secret, lastWords } = await startBesieged(t)
  const seed = Math.floor(Math.random() * 2 ** 31)
  const { answers, complaints, health, right } = await besiege(base, secret, createRandom(seed), COUNT)
  const [half, most] = [quantile(health, 0.5), quantile(health, 0.9)].map(Math.round)
  t.comment(`seed ${seed}: ${JSON.stringify(answers)}; /healthz ${half} ms, 90 % ${most} ms; ${right} right requests`)
  t.strictSame(complaints.slice(0, 3), [], `seed ${seed}`)
  t.equal(lastWords(), null, 'it is the process that was started')
  t.ok(quantile(health, 0.5) < 100, `half of the answers of /healthz within ${half} ms`)
  t.ok((answers[200] ?? 0) > COUNT / 20 && (answers[400] ?? 0) > COUNT / 20, 'both right and wrong ones were sent')
})
