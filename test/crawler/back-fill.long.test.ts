import t from 'tap'
import { tryPast } from './old-site.ts'

t.test('ten thousand pages of eight years are settled once, over kills', t =>
  tryPast(t, { count: 10_000, year: 2019, kills: 5, ms: 3_600_000 }),
)
