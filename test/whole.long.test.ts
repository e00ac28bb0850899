import t from 'tap'
import { failureOf } from './script.ts'

/** Files that try one thing of each kind in CI, because the whole takes many minutes. */
const FILES = [
  '../bench/search/peers/peers.slow',
  '../search/segment/builder',
  'clients/analysis.slow',
  'clients/python.slow',
  'containers/containers.slow',
  'contract/bounds.slow',
  'contract/docs-page.slow',
  'fleet/fleet.slow',
  'normaliser/scores.slow',
  'search/archive-states.slow',
  'search/counts',
  'search/import.slow',
  'search/model.slow',
  'search/oracle',
  'search/oracle.slow',
  'search/verify.slow',
  'search/visibility.slow',
  'search/writing.slow',
  'standbys/order.slow',
  'standbys/same-answers.slow',
  'start/start.slow',
  'web/states.slow',
]

for (const file of FILES)
  t.test(`the whole of ${file}`, async t => {
    t.equal(await failureOf(file, { WHOLE: 'yes', TAP_TIMEOUT: '2400' }), null)
  })
