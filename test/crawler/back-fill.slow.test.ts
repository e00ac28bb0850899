import t from 'tap'
import { tryPast } from './old-site.ts'

t.test('every address that old sitemaps name is settled once, over a kill', t =>
  tryPast(t, { count: 80, year: 2026, kills: 1, ms: 90_000 }),
)
