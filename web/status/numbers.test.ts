import t from 'tap'
import { sentenceOf } from '../parts/request.ts'
import { runsOf, scaleOf } from './numbers.ts'

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

t.test('a failed request is said in words: those of the API where it has some', async t => {
  const failure = { kind: 'failure', errors: {}, retryAfter: null, requestId: '' } as const
  t.equal(sentenceOf({ ...failure, code: 'offline', message: '' }), 'The API does not answer.')
  t.equal(sentenceOf({ ...failure, code: 'other', message: 'Wait.' }), 'Wait.')
  t.match(sentenceOf({ ...failure, code: 'unreadable', message: '' }), 'cannot be read')
})
