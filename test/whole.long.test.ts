import t from 'tap'
import { failureOf } from './script.ts'

/** Slow files that try one thing of each kind in CI, because the whole takes many minutes. */
const FILES = [
  'containers/containers.slow',
  'fleet/fleet.slow',
  'search/model.slow',
  'search/verify.slow',
  'standbys/order.slow',
  'standbys/same-answers.slow',
]

for (const file of FILES)
  t.test(`the whole of test/${file}.test.ts`, async t => {
    t.equal(await failureOf(file, { WHOLE: 'yes', TAP_TIMEOUT: '2400' }), null)
  })
