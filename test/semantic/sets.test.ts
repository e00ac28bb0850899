import t from 'tap'
import { trySets } from './set-model.ts'

t.test('pages are those of their set, whatever comes, goes and passes beside them', t =>
  trySets(t, { runs: 1, most: 10, limit: 60_000 }),
)
