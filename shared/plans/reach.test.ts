import t from 'tap'
import { coveredBy, covers } from './reach.ts'

const since = new Date('2026-11-20T00:00:00.000Z')
const reach = { countries: ['NL' as const, 'LU' as const], since }
const before = '2026-11-19T23:59:59.999Z'

t.test('decision 26: a plan covers its countries, from the start of its history on', async t => {
  const is = (country: 'NL' | 'BE', published_at: string | null, ingested_at: string | null) =>
    covers(reach, { country, published_at, ingested_at })
  t.ok(is('NL', since.toISOString(), before), 'the first moment is covered')
  t.notOk(is('NL', before, since.toISOString()), 'the time of ingestion does not help')
  t.ok(is('NL', null, since.toISOString()), 'without a publication it counts')
  t.notOk(is('NL', null, before))
  t.notOk(is('NL', null, null), 'an article with neither time is never covered')
  t.notOk(is('BE', since.toISOString(), since.toISOString()), 'another country')
})

t.test('a rolling history begins at midnight', async t => {
  const plan = { countries: reach.countries, rate: 1, quota: null }
  const { since } = coveredBy({ ...plan, history: { kind: 'rolling', days: 2 } })
  const today = new Date().setUTCHours(0, 0, 0, 0)
  t.ok([today, today - 86_400_000].includes(since.getTime() + 2 * 86_400_000))
})
