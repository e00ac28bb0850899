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

const x = (requests: number) => rounded(LEFT + (Math.min(requests, MOST_REQUESTS) / MOST_REQUESTS) * (RIGHT - LEFT))
const y = (minutes: number) => rounded(BOTTOM - (Math.min(minutes, MOST_MINUTES) / MOST_MINUTES) * (BOTTOM - TOP))
const rounded = (value: number) => Math.round(value * 10) / 10

/** Lag against requests, as SVG. What lies beyond the scale stands at its edge. */
export function drawCurves(curves: Curve[]): string {
  const title = 'Lag of articles against requests of feeds, in a simulated week'
  const levels = [0, 10, 20, 30, 40].map(
    minutes =>
      `<path d="M${LEFT} ${y(minutes)}H${RIGHT}" stroke="#ccc"/><text x="${LEFT - 8}" y="${y(minutes) + 4}" text-anchor="end">${minutes} min</text>`,
  )
  const marks = [0, 150_000, 300_000, 450_000, 600_000].map(
    requests =>
      `<text x="${x(requests)}" y="${BOTTOM + 18}" text-anchor="middle">${requests.toLocaleString('en')}</text>`,
  )
  const lines = curves.flatMap(({ name, colour, points }, place) =>
    (['p95', 'p50'] as const).flatMap(part => {
      const dash = part === 'p50' ? ' stroke-dasharray="4 4"' : ''
      const at = points.map(point => `${x(point.requests)},${y(point[part])}`)
      const legend = TOP + 16 * (2 * place + (part === 'p50' ? 1 : 0)) + 12
      return [
        `<polyline points="${at.join(' ')}" fill="none" stroke="${colour}" stroke-width="2"${dash}/>`,
        ...points
          .filter(({ is }) => is)
          .map(point => `<circle cx="${x(point.requests)}" cy="${y(point[part])}" r="5" fill="${colour}"/>`),
        `<path d="M${RIGHT - 190} ${legend}h30" stroke="${colour}" stroke-width="2"${dash}/><text x="${RIGHT - 152}" y="${legend + 4}">${name}, ${part}</text>`,
      ]
    }),
  )
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 340" font-family="sans-serif" font-size="12" role="img" aria-label="${title}">`,
    '<rect width="760" height="340" fill="#fff"/>',
    `<text x="${LEFT}" y="20" font-size="14" font-weight="bold">${title}</text>`,
    ...levels,
    ...marks,
    `<text x="${(LEFT + RIGHT) / 2}" y="${BOTTOM + 34}" text-anchor="middle">requests of feeds in a week; a dot is the rule as it is</text>`,
    ...lines,
    '</svg>',
  ].join('\n')}\n`
}
