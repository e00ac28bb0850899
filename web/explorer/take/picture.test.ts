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
