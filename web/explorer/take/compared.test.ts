import t from 'tap'
import { csvOf, isHollow, rowsOf } from './compared.ts'

const counts = (...data: [day: number, count: number][]) => ({
  total: 0,
  other: 0,
  undated: 0,
  data: data.map(([day, count]) => ({
    key: `2026-11-${day}`,
    count,
    from: `2026-11-${day - 1}T23:00:00.000Z`,
    to: `2026-11-${day}T22:59:59.999Z`,
  })),
})
const covered = (day: number, share: number | null) => ({
  day: `2026-11-${day}`,
  named: 10,
  indexed: 9,
  named_by_sitemaps: 10,
  unread: 0,
  gap: false,
  share,
})

t.test(
  'rows go from the first article to the last; completeness is the least of the UTC days of a bucket',
  async t => {
    const rows = rowsOf([
      {
        own: counts([19, 0], [20, 1], [21, 2], [22, 0]),
        all: counts([20, 4], [21, 2]),
        days: [covered(19, 0.5), covered(20, 0.95), covered(21, 0.91)],
      },
      {
        own: counts([20, 0], [22, 3], [23, 0]),
        all: counts([22, 4]),
        days: [covered(22, null), covered(21, 0.9)],
      },
    ])
    const point = (count: number, all: number, share: number | null, complete: number | null) => ({
      count,
      all,
      share,
      complete,
    })
    t.strictSame(
      rows.map(({ key, points }) => [key, ...points]),
      [
        ['2026-11-20', point(1, 4, 0.25, 0.5), point(0, 0, null, null)],
        ['2026-11-21', point(2, 2, 1, 0.91), null],
        ['2026-11-22', point(0, 0, null, 0.91), point(3, 4, 0.75, 0.9)],
      ],
    )
    const hollow = rows.flatMap(({ points }) => points.map(isHollow))
    t.strictSame(hollow, [true, false, false, false, false, false])
    t.strictSame(csvOf(rows, ['=q', 'a,b']).split('\r\n').slice(0, 3), [
      'search,time,from,to,count,all,share,complete',
      "'=q,2026-11-20,2026-11-19T23:00:00.000Z,2026-11-20T22:59:59.999Z,1,4,0.250000,0.500",
      '"a,b",2026-11-20,2026-11-19T23:00:00.000Z,2026-11-20T22:59:59.999Z,0,0,,',
    ])
    const none = { own: counts(), all: counts(), days: [] }
    const beside = rowsOf([{ own: counts([20, 1]), all: counts([20, 2]), days: [] }, none])
    t.strictSame(
      csvOf(beside, ['a', 'b']).split('\r\n').slice(-2),
      ['b,,,,,,,', ''],
      'a search without figures is named',
    )
    const own = (...days: [number, number][]) => ({ own: counts(...days), all: counts(), days: [] })
    t.same(
      rowsOf([own([22, 1]), own([20, 1])]).map(({ key }) => key),
      ['2026-11-20', '2026-11-22'],
      'in order',
    )
    t.strictSame(rowsOf([{ own: counts([20, 0]), all: counts(), days: [] }]), [])
  },
)
