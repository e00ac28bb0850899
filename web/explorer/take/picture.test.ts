import t from 'tap'
import LINES from './lines.json' with { type: 'json' }
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
      apart: 'Side by side',
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
  const drawn = (counts: number[]) =>
    svgOf({
      // The axis goes to 10 and is 420 high; its zero is at 450.
      rows: [row(20, ...counts.map(count => point(count))), row(21, point(10))],
      labels: ['a', 'b', 'c', 'd', 'e'],
      isShare: false,
      tick: ({ key }) => key,
      format: String,
      source: ['Number'],
      apart: 'Side by side',
    })
  for (const { counts, lefts, tops, why } of LINES) {
    const svg = drawn(counts)
    const places = [...svg.matchAll(/<polyline [^>]*points="([^" ]+)/g)].map(([, first = '']) =>
      first.split(',').map(Number),
    )
    // Two buckets share 1,080 pixels from 90 on. Signs are 10 wide.
    t.same(
      places.map(([left = 0]) => (left - 360) / 10),
      lefts,
      why,
    )
    t.same(
      places.map(([, top]) => top),
      tops,
      why,
    )
    const isMoved = lefts.some(left => left !== 0)
    t.equal(svg.includes('>Number · Side by side<'), isMoved, 'the picture says so')
  }
  const svg = drawn([3, 3, 3.01, 7, 0])
  const signs = [...svg.matchAll(/<(circle|polygon) (?:points="([^"]+)")?/g)].map(
    ([, kind, points]) => `${kind} ${points?.split(' ').length}`,
  )
  const counts = Object.groupBy(signs, sign => sign)
  const found = Object.entries(counts).map(([sign, all]) => [sign, all?.length])
  // Squares and diamonds have four corners, the triangles three; each also stands in the legend.
  t.same(found, [
    ['circle undefined', 3],
    ['polygon 4', 4],
    ['polygon 3', 4],
  ])
})
