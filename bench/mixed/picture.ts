/** A line of a picture: a value for each minute or other step; null: none. */
export interface Line {
  name: string
  values: (number | null)[]
}

const WIDTH = 860
const HEIGHT = 300
const MARGIN = { left: 58, right: 130, top: 34, bottom: 40 }
/** Told apart without colours by their dashes, too. */
const STYLES = [
  'stroke="#1f5fa8"',
  'stroke="#b3541e" stroke-dasharray="7 3"',
  'stroke="#2e7d4f" stroke-dasharray="2 3"',
  'stroke="#7a3d9a" stroke-dasharray="9 3 2 3"',
]

/**
 * Lines over the minutes as an SVG image that needs nothing from outside.
 *
 * @param step what a value stands for, under the axis
 */
export function picture(title: string, unit: string, lines: Line[], step = 'minute'): string {
  const values = lines.flatMap(line => line.values.filter(value => value !== null))
  const top = niceAbove(Math.max(1, ...values))
  const minutes = Math.max(2, ...lines.map(line => line.values.length))
  const x = (minute: number) => MARGIN.left + (minute / (minutes - 1)) * (WIDTH - MARGIN.left - MARGIN.right)
  const y = (value: number) => HEIGHT - MARGIN.bottom - (value / top) * (HEIGHT - MARGIN.top - MARGIN.bottom)
  const grid = [0, 0.25, 0.5, 0.75, 1].map(part => part * top)
  const every = Math.max(1, Math.ceil((minutes - 1) / 12))
  const ticks = Array.from({ length: minutes }, (_, minute) => minute).filter(minute => minute % every === 0)
  const parts = [
    ...grid.map(
      value =>
        `<path d="M${MARGIN.left} ${y(value)}H${WIDTH - MARGIN.right}" stroke="#ccc"/>` +
        text(MARGIN.left - 8, y(value) + 4, `${rounded(value)} ${unit}`, 'end'),
    ),
    ...ticks.map(minute => text(x(minute), HEIGHT - MARGIN.bottom + 18, String(minute), 'middle')),
    text((MARGIN.left + WIDTH - MARGIN.right) / 2, HEIGHT - 6, step, 'middle'),
    ...lines.map((line, index) => drawn(line, STYLES[index % STYLES.length]!, index, x, y)),
  ]
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12" role="img" aria-label="${escaped(title)}">
<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>
<text x="${MARGIN.left}" y="20" font-size="14" font-weight="bold">${escaped(title)}</text>
${parts.join('\n')}
</svg>
`
}

function drawn(
  { name, values }: Line,
  style: string,
  index: number,
  x: (minute: number) => number,
  y: (value: number) => number,
): string {
  const points = values.flatMap((value, minute) =>
    value === null ? [] : [`${rounded(x(minute))},${rounded(y(value))}`],
  )
  const at = MARGIN.top + 14 + index * 20
  const legend = WIDTH - MARGIN.right + 12
  return [
    `<polyline points="${points.join(' ')}" fill="none" stroke-width="2" ${style}/>`,
    `<path d="M${legend} ${at - 4}h22" stroke-width="2" ${style}/>`,
    text(legend + 28, at, name, 'start'),
  ].join('')
}

const text = (x: number, y: number, words: string, anchor: string) =>
  `<text x="${rounded(x)}" y="${rounded(y)}" text-anchor="${anchor}" fill="#333">${escaped(words)}</text>`

const escaped = (words: string) => words.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')

const rounded = (value: number) => Math.round(value * 10) / 10

/** The next of 1, 2, 4, 6, 8 or 10 times a power of ten. */
function niceAbove(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value))
  return power * ([1, 2, 4, 6, 8, 10].find(step => step * power >= value) ?? 10)
}
