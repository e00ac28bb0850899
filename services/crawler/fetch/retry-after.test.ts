import t from 'tap'
import { LONGEST_PAUSE, readRetryAfter } from './retry-after.ts'

t.test('RFC 9110 §10.2.3: seconds or a date, on the server’s clock when it shows it', async t => {
  const now = Date.parse('2026-11-21T08:00:00Z')
  const read = (value: string, date?: string) =>
    readRetryAfter({ 'retry-after': value, ...(date ? { date } : {}) }, now)
  t.equal(read('120'), 120_000)
  t.equal(read(' 0 '), 0)
  t.equal(read('Sat, 21 Nov 2026 08:00:30 GMT'), 30_000)
  t.equal(read('Sat, 21 Nov 2026 09:00:30 GMT', 'Sat, 21 Nov 2026 09:00:00 GMT'), 30_000, 'a clock that is an hour off')
  t.equal(read('Sat, 21 Nov 2026 07:00:00 GMT'), 0, 'past')
  t.equal(read('999999999'), LONGEST_PAUSE)
  t.equal(read('soon'), null)
  t.equal(read('-5'), null)
  t.equal(readRetryAfter({}), null)
})
