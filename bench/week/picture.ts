/** A rule at several settings. */
export interface Curve {
  name: string
  colour: string
  /** Requests of feeds in the week, and the lag of articles in minutes; `is`: the rule as it is. */
  points: { requests: number; p50: number; p95: number; is: boolean }[]
}

const [LEFT, TOP, RIGHT, BOTTOM] = [58, 34, 730, 300]
const MOST_REQUESTS = 600_000
const MOST_MINUTES = 40

const x = (requests: number) => Math.round(LEFT + (Math.min(requests, MOST_REQUESTS) / MOST_REQUESTS) * (RIGHT - LEFT))
const y = (minutes: number) => Math.round(BOTTOM - (Math.min(minutes, MOST_MINUTES) / MOST_MINUTES) * (BOTTOM - TOP))

/** Draws lag against requests, as SVG. A point beyond the scale is drawn at its edge. */
export function drawCurves(curves: Curve[]): string {
  const text = (left: number, top: number, words: string) => `<text x="${left}" y="${top}">${words}</text>`
  const title = 'Lag of articles against requests of feeds, in a simulated week'
  const levels = [0, 10, 20, 30, 40].map(
    minutes => `<path d="M${LEFT} ${y(minutes)}H${RIGHT}" stroke="#ccc"/>${text(8, y(minutes) + 4, `${minutes} min`)}`,
  )
  const marks = [0, 150_000, 300_000, 450_000, 600_000].map(requests =>
    text(x(requests) - 24, BOTTOM + 18, requests.toLocaleString('en')),
  )
  const parts = curves.flatMap(curve => (['p95', 'p50'] as const).map(part => ({ ...curve, part })))
  const lines = parts.map(({ name, colour, points, part }, place) => {
    const stroke = `fill="none" stroke="${colour}" stroke-width="${part === 'p95' ? 3 : 1}"`
    const at = points.map(point => `${x(point.requests)},${y(point[part])}`)
    const now = points.find(({ is }) => is)!
    const dot = `<circle cx="${x(now.requests)}" cy="${y(now[part])}" r="5" fill="${colour}"/>`
    const legend = TOP + 16 * place + 12
    const key = `<path d="M${RIGHT - 190} ${legend}h30" ${stroke}/>${text(RIGHT - 152, legend + 4, `${name}, ${part}`)}`
    return `<polyline points="${at.join(' ')}" ${stroke}/>${dot}${key}`
  })
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 340" font-family="sans-serif" font-size="12" role="img" aria-label="${title}">`,
    '<rect width="760" height="340" fill="#fff"/>',
    ...[text(LEFT, 20, title), ...levels, ...marks, ...lines],
    text(RIGHT / 3, BOTTOM + 34, 'requests of feeds in a week; a dot is the rule as it is'),
    '</svg>',
  ].join('\n')}\n`
}
