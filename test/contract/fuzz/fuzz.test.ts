import t from 'tap'
import { proveSiege } from './siege.ts'

t.test('whatever comes in gets an answer of the contract, others theirs at once', t =>
  proveSiege(t, 1, 500),
)
