import t from 'tap'
import { ago, number, plural, runsOf, scaleOf, span } from './numbers.ts'

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

const point = (at: number, median: number, p95: number) => ({ at, median, p95 })
const labels = (...points: ReturnType<typeof point>[]) => scaleOf(points).marks.map(({ label }) => label)

t.test('the axis names the marks around all points, two at least', async t => {
  t.strictSame(labels(point(0, 3, 40)), ['1 s', '10 s', '1 min'])
  t.strictSame(labels(point(0, 0, 0)), ['1 s', '10 s'])
  t.strictSame(labels(point(0, 10, 10)), ['10 s', '1 min'])
  t.strictSame(labels(point(0, 9e7, 9e8)), ['30 days', '1 year'], 'longer than the last')
})

t.test('a lag has its place between bottom and top', async t => {
  const { shareOf } = scaleOf([point(0, 1, 100)])
  t.equal(shareOf(0), 0)
  t.equal(shareOf(1), 0)
  t.equal(shareOf(600), 1)
  t.ok(shareOf(10) > 0.3 && shareOf(10) < 0.5)
})

t.test('hours without a figure part the line', async t => {
  const points = [point(1, 1, 1), point(2, 1, 1), point(5, 1, 1)]
  t.strictSame(
    runsOf(points).map(run => run.map(({ at }) => at)),
    [[1, 2], [5]],
  )
})
