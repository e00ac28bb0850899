// Lag over time: the median as a line, up to the 95th percentile as an area, on a logarithmic axis; and articles by hour.
import { h, number, s, span } from './elements.js'

const [WIDTH, HEIGHT, LEFT, BOTTOM, TOP] = [360, 150, 54, 20, 8]
/** Seconds, and how they are written. */
const MARKS = new Map([
  [1, '1 s'],
  [10, '10 s'],
  [60, '1 min'],
  [600, '10 min'],
  [3_600, '1 h'],
  [21_600, '6 h'],
  [86_400, '1 day'],
  [604_800, '1 week'],
  [2_592_000, '30 days'],
  [31_536_000, '1 year'],
])

export function drawLag(place, hours) {
  if (hours === null) return place.replaceChildren(h('p', { class: 'quiet' }, 'Could not be read.'))
  place.replaceChildren(
    articles(hours),
    lag(
      hours,
      'index',
      'From publication to index',
      'No article came in that was published since its outlet was added.',
    ),
    lag(hours, 'vector', 'From index to vector', 'Nothing was embedded.'),
  )
}

function lag(hours, kind, title, nothing) {
  const points = hours.flatMap((hour, at) => (hour[kind] === null ? [] : [{ at, ...hour[kind] }]))
  const last = points.at(-1)
  if (last === undefined) return figure(title, '–', nothing, [], hours)
  const marks = marksAround(points)
  const [low, high] = [Math.log(marks[0]), Math.log(marks.at(-1))]
  const y = seconds =>
    TOP + (1 - (Math.log(Math.max(seconds, marks[0])) - low) / (high - low)) * (HEIGHT - TOP - BOTTOM)
  const drawn = marks.flatMap(mark => grid(y(mark), MARKS.get(mark)))
  for (const run of runs(points)) {
    const up = run.map(({ at, p95 }) => `${x(at)} ${y(p95)}`)
    const down = run.map(({ at, median }) => `${x(at)} ${y(median)}`)
    // A single hour would have no width.
    const wide = run.length === 1 ? `h.01` : ''
    drawn.push(
      s('path', { d: `M${up.join('L')}${wide}L${down.toReversed().join('L')}z`, class: 'area' }),
      s('path', { d: `M${down.join('L')}${wide}`, class: 'line' }),
    )
  }
  drawn.push(s('circle', { cx: x(last.at), cy: y(last.median), r: 3.5, class: 'point' }))
  const tell = ({ hour, [kind]: lag }) =>
    lag ? `${clock(hour)}: median ${span(lag.median)}, 95 % within ${span(lag.p95)}` : ''
  return figure(title, span(last.median), `median; 95 % within ${span(last.p95)}`, drawn, hours, tell)
}

function articles(hours) {
  const most = Math.max(...hours.map(({ articles }) => articles))
  const total = hours.reduce((sum, { articles }) => sum + articles, 0)
  const top = niceAbove(most)
  const y = n => TOP + (1 - n / top) * (HEIGHT - TOP - BOTTOM)
  const drawn = [0, top / 2, top].flatMap(mark => grid(y(mark), number(mark)))
  for (const [at, { articles }] of hours.entries()) {
    if (articles > 0)
      drawn.push(
        s('rect', { x: x(at) - 4.5, y: y(articles), width: 9, height: y(0) - y(articles), rx: 1.5, class: 'bar' }),
      )
  }
  const tell = ({ hour, articles }) => `${clock(hour)}: ${number(articles)} articles`
  return figure('Articles by hour', number(total), 'crawled and indexed in 24 hours', drawn, hours, tell)
}

function figure(title, headline, note, drawn, hours, tell) {
  const columns = hours.map((hour, at) =>
    s(
      'rect',
      { x: x(at) - 6.5, y: 0, width: 13, height: HEIGHT - BOTTOM, class: 'column' },
      s('title', null, tell?.(hour) ?? ''),
    ),
  )
  const labels = [0, 6, 12, 18, 23].map(at =>
    s(
      'text',
      { x: x(at), y: HEIGHT - 4, class: 'axis', 'text-anchor': at === 23 ? 'end' : 'middle' },
      at === 23 ? 'now' : clock(hours[at].hour),
    ),
  )
  return h(
    'figure',
    null,
    h(
      'figcaption',
      null,
      h('span', { class: 'title' }, title),
      h('strong', null, headline),
      h('span', { class: 'quiet' }, note),
    ),
    s(
      'svg',
      { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img', 'aria-label': `${title}: ${headline} ${note}` },
      ...drawn,
      ...(drawn.length > 0 ? [...labels, ...columns] : []),
    ),
  )
}

const x = at => LEFT + 8 + (at * (WIDTH - LEFT - 16)) / 23

const grid = (y, label) => [
  s('line', { x1: LEFT, x2: WIDTH - 2, y1: y, y2: y, class: 'grid' }),
  s('text', { x: LEFT - 6, y: y + 3.5, class: 'axis', 'text-anchor': 'end' }, label),
]

/** The marks that all points lie between, and one more on either side where there would be a single one. */
function marksAround(points) {
  const marks = [...MARKS.keys()]
  const least = Math.max(1, Math.min(...points.map(({ median }) => median)))
  const most = Math.max(...points.map(({ p95 }) => p95), least)
  const from = Math.max(
    0,
    marks.findLastIndex(mark => mark <= least),
  )
  const to = marks.findIndex(mark => mark >= most)
  return marks.slice(from, Math.max(to === -1 ? marks.length : to + 1, from + 2))
}

/** Hours that follow one another: a gap is shown as a gap. */
function runs(points) {
  const found = []
  for (const point of points) {
    if (found.at(-1)?.at(-1).at === point.at - 1) found.at(-1).push(point)
    else found.push([point])
  }
  return found
}

function niceAbove(n) {
  const unit = 10 ** Math.floor(Math.log10(Math.max(n, 10)))
  return [1, 2, 4, 6, 8, 10].map(step => step * unit).find(top => top >= n) ?? n
}

const clock = hour => new Date(hour).toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' })
