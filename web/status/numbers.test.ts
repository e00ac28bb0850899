import t from 'tap'
import { ago, number, plural, span } from './numbers.ts'

t.test('numbers are short from a million on', async t => {
  t.strictSame([0, 1_234, 999_999, 1_234_567, 12_345_678].map(number), ['0', '1,234', '999,999', '1.23 M', '12.3 M'])
  t.strictSame([plural(1, 'page'), plural(2, 'page')], ['1 page', '2 pages'])
})

t.test('a span has one unit', async t => {
  const spans = [0, 5.64, 40.4, 300, 12_600, 777_600, 94_608_000]
  t.strictSame(spans.map(span), ['0 s', '5.6 s', '40 s', '5 min', '3.5 h', '9 days', '1,095 days'])
})

t.test('a time ahead of the clock is now', async t => {
  t.equal(ago('2026-03-01T12:00:05.000Z', Date.parse('2026-03-01T12:00:00.000Z')), '0 s ago')
})
