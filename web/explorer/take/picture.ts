import { isHollow, type Row } from './compared.ts'

/** What a picture of a comparison shows. */
export interface Picture {
  rows: Row[]
  /** The searches in words, in the order of the points of a row. */
  labels: string[]
  isShare: boolean
  /** The name of a bucket of time below the axis. */
  tick(row: Row): string
  format(value: number): string
  /** The last line: where the figures are from, and of when. */
  source: string
}

const WIDTH = 1_200
const LEFT = 90
const RIGHT = 30
const TOP = 30
const HEIGHT = 420
/** Pixels of a line of the legend. */
const LINE = 30
/** The most names of buckets below the axis. */
const MOST_TICKS = 8

/** Colours and dashes as on the page. On white they are the same in print and in slides. */
const LINES = [
  ['#3f878f', ''],
  ['#a3261b', '8 4'],
  ['#565b60', '2 4'],
  ['#3f878f', '10 3 2 3'],
] as const

/** The comparison as an SVG file, with its legend, so that it can stand in a report. */
export function svgOf({ rows, labels, isShare, tick, format, source }: Picture): string {
  const figureOf = (row: Row, at: number) =>
    (isShare ? row.points[at]?.share : row.points[at]?.count) ?? null
  const values = rows.flatMap(row => labels.map((_label, at) => figureOf(row, at) ?? 0))
  const step = stepOf(Math.max(...values), isShare)
  const top = Math.max(step, Math.ceil(Math.max(...values) / step) * step)
  const x = (index: number) => LEFT + ((index + 0.5) / rows.length) * (WIDTH - LEFT - RIGHT)
  const y = (value: number) => TOP + HEIGHT * (1 - value / top)
  const grid = Array.from({ length: Math.round(top / step) + 1 }, (_, n) => n * step).map(
    value =>
      `<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y(value)}" y2="${y(value)}" stroke="#dedad0"/>` +
      textAt(LEFT - 10, y(value) + 5, format(value), 'end'),
  )
  const every = Math.ceil(rows.length / MOST_TICKS)
  const ticks = rows.flatMap((row, index) =>
    index % every === 0 ? [textAt(x(index), TOP + HEIGHT + 28, tick(row), 'middle')] : [],
  )
  const lines = labels.map((label, at) => {
    const [colour, dash] = LINES[at] ?? LINES[0]
    const stroke = `stroke="${colour}" stroke-width="3" stroke-dasharray="${dash}" fill="none"`
    const below = TOP + HEIGHT + 70 + at * LINE
    const points = rows.flatMap((row, index) => {
      const value = figureOf(row, at)
      if (value === null) return []
      const fill = isHollow(row.points[at] ?? null) ? '#ffffff' : colour
      const place = `cx="${x(index)}" cy="${y(value)}"`
      return [`<circle ${place} r="5" fill="${fill}" stroke="${colour}" stroke-width="2"/>`]
    })
    return [
      ...runsOf(rows.map((row, index) => [x(index), figureOf(row, at)] as const)).map(
        run =>
          `<polyline ${stroke} points="${run.map(([left, value]) => `${left},${y(value)}`).join(' ')}"/>`,
      ),
      ...points,
      `<line x1="${LEFT}" x2="${LEFT + 50}" y1="${below}" y2="${below}" ${stroke}/>`,
      textAt(LEFT + 65, below + 5, label, 'start'),
    ].join('')
  })
  const height = TOP + HEIGHT + 90 + labels.length * LINE
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}"`,
    ' font-family="system-ui, sans-serif" font-size="16" fill="#1b1d1f">',
    `<rect width="${WIDTH}" height="${height}" fill="#ffffff"/>`,
    ...grid,
    ...ticks,
    ...lines,
    `${textAt(LEFT, height - 14, source, 'start')}</svg>`,
  ].join('')
}

/** Parts of a line without gaps. */
function runsOf(points: (readonly [left: number, value: number | null])[]): [number, number][][] {
  const runs: [number, number][][] = [[]]
  for (const [left, value] of points) {
    if (value === null) runs.push([])
    else runs.at(-1)?.push([left, value])
  }
  return runs.filter(run => run.length > 0)
}

/** A round step of the axis, so that there are two to five of them. */
function stepOf(most: number, isShare: boolean): number {
  const rough = most / 4 || 1
  const unit = 10 ** Math.floor(Math.log10(rough))
  const step = [1, 2, 5, 10].map(n => n * unit).find(one => one >= rough) ?? 10 * unit
  return isShare ? step : Math.max(1, step)
}

/** The most letters of a line; a browser would draw a longer one beyond the edge. */
const MOST_LETTERS = 110

function textAt(left: number, top: number, text: string, anchor: string): string {
  const letters = [...text]
  const cut = letters.length > MOST_LETTERS ? `${letters.slice(0, MOST_LETTERS).join('')}…` : text
  const escaped = cut.replace(/[&<>]/g, sign => `&#${sign.charCodeAt(0)};`)
  return `<text x="${left}" y="${top}" text-anchor="${anchor}">${escaped}</text>`
}

/** An SVG file as PNG, in twice its size, so that it stays sharp on paper. */
export async function pngOf(svg: string): Promise<Blob> {
  const image = new Image()
  // A data address, because the page's policy lets in no other picture that the page has made.
  image.src = `data:image/svg+xml,${encodeURIComponent(svg)}`
  await image.decode()
  const canvas = document.createElement('canvas')
  canvas.width = 2 * image.width
  canvas.height = 2 * image.height
  canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height)
  return new Promise((resolve, reject) =>
    canvas.toBlob(blob => (blob === null ? reject(new Error('No picture.')) : resolve(blob))),
  )
}
