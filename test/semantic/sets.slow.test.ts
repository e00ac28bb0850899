import t from 'tap'
import { trySets } from './set-model.ts'

t.test('pages are those of their set in many histories', t =>
  trySets(t, { runs: 60, most: 16, limit: 20_000 }),
)
