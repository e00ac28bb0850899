import t from 'tap'
import { LONGEST_RETRY_AFTER, readRetryAfter } from './retry-after.ts'

t.test(
  'RFC 9110 §10.2.3: seconds or a date, by the server’s clock when the answer shows it',
  async t => {
    const now = Date.parse('2026-11-21T08:00:00Z')
    const read = (value: string | null, date?: string) => readRetryAfter(value, date, now)
    t.equal(read('120'), 120_000)
    t.equal(read(' 0 '), 0)
    t.equal(read('Sat, 21 Nov 2026 08:00:30 GMT'), 30_000)
    t.equal(
      read('Sat, 21 Nov 2026 09:00:30 GMT', 'Sat, 21 Nov 2026 09:00:00 GMT'),
      30_000,
      'a clock that is an hour off',
    )
    t.equal(read('Sat, 21 Nov 2026 08:00:30 GMT', 'today'), 30_000, 'a Date header that is no date')
    t.equal(read('Sat, 21 Nov 2026 07:00:00 GMT'), 0, 'a date in the past')
  },
)

t.test('no server may ask for more than a day', async t => {
  t.equal(readRetryAfter('999999999'), 24 * 60 * 60 * 1_000)
  t.equal(readRetryAfter('9'.repeat(400)), LONGEST_RETRY_AFTER)
  t.equal(readRetryAfter('Sat, 21 Nov 2099 08:00:30 GMT'), LONGEST_RETRY_AFTER)
})

t.test('an unreadable header counts as none', async t => {
  for (const value of ['soon', '-5', '1.5', '', ' ', null, undefined])
    t.equal(readRetryAfter(value), null, `${value}`)
})
