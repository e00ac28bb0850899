import t from 'tap'
import { svgOf } from './picture.ts'

const point = (count: number, complete: number | null = null) => ({
  count,
  all: 10,
  share: count / 10,
  complete,
})
const row = (day: number, ...points: (ReturnType<typeof point> | null)[]) => ({
  key: `2026-11-${day}`,
  from: '',
  to: '',
  points,
})

t.test('a picture has a line for each search, with its words; a gap breaks it', async t => {
  const rows = [
    row(20, point(3), point(9)),
    row(21, point(4), null),
    row(22, point(1, 0.5), point(2)),
  ]
  const drawn = (isShare: boolean, width = 1_200) =>
    svgOf({
      rows,
      labels: ['a < b & c', `Expression: *trein* NEAR/5 ~staking · ${'x'.repeat(200)}`],
      isShare,
      tick: ({ key }) => key,
      format: value => (isShare ? `${value * 100} %` : String(value)),
      source: ['Number', 'By day', 'Perscope', '29 November 2026'],
      width,
    })
  const svg = drawn(false)
  const points = [...svg.matchAll(/<polyline [^>]*points="([^"]+)"/g)].map(
    ([, of = '']) => of.split(' ').length,
  )
  t.same(points, [3, 1, 1])
  t.match(svg, '>a &#60; b &#38; c<')
  t.match(svg, `>${'x'.repeat(109)}…<`)
  t.equal(svg.match(/fill="#ffffff" stroke/g)?.length, 1, 'half of the articles are missing there')
  t.match(svg, '>10<', 'a round step above the most')
  t.match(drawn(true), '>100 %<')
  const onPhone = [...drawn(false, 330).matchAll(/>([^<>]+)<\/text>/g)].map(([, text]) => text)
  t.match(onPhone.join('\n'), `Expression: *trein* NEAR/5\n~staking ·\n${'x'.repeat(26)}…\n`)
  t.match(svg, '>Number · By day · Perscope · 29 November 2026<')
  t.match(drawn(false, 330), />Number · By day · Perscope<.*>29 November 2026</, 'whole, in lines')
  t.notMatch(svg, /NaN|undefined/)
})

t.test('lines of equal figures are drawn apart, each with a sign of its own', async t => {
  const rows = [20, 21].map(day =>
    row(day, point(3), point(3), point(3.01), point(7), day === 20 ? point(0) : null),
  )
  const labels = ['a', 'b', 'c', 'd', 'e']
  const tick = ({ key }: { key: string }) => key
  const svg = svgOf({ rows, labels, isShare: false, tick, format: String, source: ['Number'] })
  const places = [...svg.matchAll(/<polyline [^>]*points="([^" ]+)/g)].map(([, first = '']) =>
    first.split(',').map(Number),
  )
  const [a = [], b = [], c = [], d = [], e = []] = places
  const near = [c, a, b]
  t.same(new Set(near.map(([left]) => left)).size, 3)
  const tops = near.map(([, top = 0]) => top)
  const [first = 0, second = 0, third = 0] = tops
  t.same([second - first, third - second].map(Math.round), [4, 4], `${tops}`)
  t.equal(d[0], e[0], 'what stands alone stays in its place')
  t.equal(d[0], a[0], 'as the middle one does')
  const signs = [...svg.matchAll(/<(circle|polygon) (?:points="([^"]+)")?/g)].map(
    ([, kind, points]) => `${kind} ${points?.split(' ').length}`,
  )
  const counts = Object.groupBy(signs, sign => sign)
  const found = Object.entries(counts).map(([sign, all]) => [sign, all?.length])
  // Squares and diamonds have four corners, the triangles three; each also stands in the legend.
  t.same(found, [
    ['circle undefined', 3],
    ['polygon 4', 6],
    ['polygon 3', 5],
  ])
})
