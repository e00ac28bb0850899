import { isHollow, type Row } from './compared.ts'

/** What a picture of a comparison shows. */
export interface Picture {
  rows: Row[]
  /** The searches in words, in the order of the points of a row. */
  labels: string[]
  isShare: boolean
  /** The name of a bucket of time below the axis, after the one that is named before it. */
  tick(row: Row, before: Row): string
  format(value: number): string
  /** The last lines: what the figures are, where they are from, and of when. */
  source: readonly string[]
  /** Stands after them where points were moved. */
  apart: string
  /** In pixels. */
  width?: number
  colours?: Colours
}

interface Colours {
  lines: readonly string[]
  ground: string
  rule: string
  ink: string
}

/** On white, which is the same in print and in slides. */
const PRINTED: Colours = {
  lines: ['#3f878f', '#a3261b', '#565b60', '#3f878f', '#a3261b'],
  ground: '#ffffff',
  rule: '#dedad0',
  ink: '#1b1d1f',
}
/** The same as on the page. */
export const SHOWN: Colours = {
  lines: ['var(--chart)', 'var(--bad)', 'var(--soft)', 'var(--chart)', 'var(--bad)'],
  ground: 'var(--raised)',
  rule: 'var(--rule)',
  ink: 'var(--ink)',
}
/** Dashes and the signs of points distinguish lines where colours do not. */
const DASHES = ['', '8 4', '2 4', '10 3 2 3', '10 3 2 3 2 3'] as const
/**
 * Signs as regular polygons: how many corners, and where the first is, in turns. A disc has none.
 */
const SIGNS = [
  [0, 0],
  [4, 1 / 8],
  [3, -1 / 4],
  [4, 0],
  [3, 1 / 4],
] as const

const WIDTH = 1_200
const LEFT = 90
const RIGHT = 30
const TOP = 30
/** Pixels of a line of the legend, and of the sample of a search before it. */
const LINE = 30
const SAMPLE = 50
/** A picture of less width is narrow. */
const NARROW = 600
/** The room of a name of a bucket below the axis, and of a letter. */
const TICK = 150
const LETTER = 9.5
/** The distance of lines that would cover each other. */
const APART = 4
/** The radius of a disc where there is room. The corners of other signs are as many radii away. */
const RADIUS = 5
const CORNER = 1.4

/** The comparison as an SVG file, with its legend, so that it can stand in a report. */
export function svgOf(picture: Picture): string {
  const { rows, labels, isShare, tick, format, width = WIDTH, colours = PRINTED } = picture
  const textAt = (left: number, top: number, text: string, anchor = 'start') =>
    `<text x="${left}" y="${top}" text-anchor="${anchor}">${escaped(text)}</text>`
  const height = 0.35 * width
  const bottom = TOP + height
  const figureOf = (row: Row, at: number) =>
    (isShare ? row.points[at]?.share : row.points[at]?.count) ?? null
  const values = rows.flatMap(row => labels.map((_label, at) => figureOf(row, at) ?? 0))
  const step = stepOf(Math.max(...values), isShare)
  const top = Math.max(step, Math.ceil(Math.max(...values) / step) * step)
  const x = (index: number) => LEFT + ((index + 0.5) / rows.length) * (width - LEFT - RIGHT)
  const y = (value: number) => TOP + height * (1 - value / top)
  const room = x(1) - x(0)
  // Points of many buckets would hide the line.
  const radius = Math.max(1.5, Math.min(RADIUS, 0.3 * room))
  const beside = Math.min(2 * radius, (0.8 * room) / labels.length)
  const places = rows.map((row, index) => {
    const tops = labels.map((_label, at) => {
      const value = figureOf(row, at)
      return value === null ? null : y(value)
    })
    return sideBySide(tops, x(index), bottom, beside)
  })
  const isMoved = places.some((row, index) => row.some(place => place && place[0] !== x(index)))
  const source = isMoved ? [...picture.source, picture.apart] : picture.source
  const grid = Array.from({ length: Math.round(top / step) + 1 }, (_, n) => n * step).map(
    value =>
      `<line x1="${LEFT}" x2="${width - RIGHT}" y1="${y(value)}" y2="${y(value)}" stroke="${colours.rule}"/>` +
      textAt(LEFT - 10, y(value) + 5, format(value), 'end'),
  )
  const every = Math.ceil((rows.length * TICK) / width)
  const ticks = rows.flatMap((row, index) => {
    // The first one has its year when the last bucket is of another one.
    const before = rows[index - every] ?? rows.at(-1)
    return index % every === 0 && before !== undefined
      ? [textAt(x(index), bottom + 28, tick(row, before), 'middle')]
      : []
  })
  // On a narrow screen the legend begins at the edge, so that its lines are longer.
  const edge = width < NARROW ? 8 : LEFT
  const words = edge + SAMPLE + 15
  let below = bottom + 70
  const lines = labels.flatMap((_label, at) =>
    runsOf(places.map(row => row[at] ?? null)).map(
      run => `<polyline ${strokeOf(at, colours)} points="${run.map(spelt).join(' ')}"/>`,
    ),
  )
  // A line of one search would hide points of another.
  const points = rows.flatMap((row, index) =>
    row.points.flatMap((point, at) => {
      const place = places[index]?.[at] ?? null
      return place === null ? [] : [signOf(at, place, radius, colours, isHollow(point))]
    }),
  )
  const legend = labels.flatMap((label, at) => {
    const sample = sampleOf(at, [edge, below], SAMPLE, colours)
    const said = wrapped(label.split(' '), ' ', (width - words) / LETTER).map((line, n) =>
      textAt(words, below + 5 + n * LINE, line),
    )
    below += said.length * LINE
    return [sample, ...said]
  })
  const said = wrapped(source, ' · ', (width - edge) / LETTER).map((line, at) =>
    textAt(edge, below + 6 + at * LINE, line),
  )
  const end = below + (said.length - 1) * LINE + 20
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${end}" viewBox="0 0 ${width} ${end}"`,
    ` font-family="system-ui, sans-serif" font-size="16" fill="${colours.ink}">`,
    `<rect width="${width}" height="${end}" fill="${colours.ground}"/>`,
    ...grid,
    ...ticks,
    ...lines,
    ...points,
    ...legend,
    ...said,
    '</svg>',
  ].join('')
}

type Place = readonly [left: number, top: number]

const spelt = ([left, top]: Place) => `${left.toFixed(1)},${top.toFixed(1)}`

const strokeOf = (at: number, { lines }: Colours) =>
  `stroke="${lines[at]}" stroke-width="3" stroke-dasharray="${DASHES[at]}" fill="none"`

/** A line with its sign, as the legend has it. */
export function sampleOf(at: number, [left, top]: Place, length: number, colours: Colours): string {
  const line = `<line x1="${left}" x2="${left + length}" y1="${top}" y2="${top}" ${strokeOf(at, colours)}/>`
  return line + signOf(at, [left + length / 2, top], RADIUS, colours, false)
}

/** The sign of a point. */
function signOf(at: number, place: Place, radius: number, colours: Colours, isHollow: boolean) {
  const colour = colours.lines[at]
  const look = `fill="${isHollow ? colours.ground : colour}" stroke="${colour}" stroke-width="2"`
  const [x, y] = place
  const [count, turn] = SIGNS[at] ?? SIGNS[0]
  const corners = Array.from({ length: count }, (_, n): Place => {
    const angle = 2 * Math.PI * (turn + n / count)
    return [x + CORNER * radius * Math.cos(angle), y + CORNER * radius * Math.sin(angle)]
  })
  return count === 0
    ? `<circle cx="${x.toFixed(1)}" cy="${y.toFixed(1)}" r="${radius}" ${look}/>`
    : `<polygon points="${corners.map(spelt).join(' ')}" ${look}/>`
}

/**
 * Places of the points of a bucket. Points that would cover each other are moved apart, in both
 * directions, so that all of their lines are seen.
 *
 * @param tops null: there is no point
 * @param left the middle of the bucket
 * @param bottom where the axis is: no point is moved below it
 */
function sideBySide(
  tops: (number | null)[],
  left: number,
  bottom: number,
  beside: number,
): (Place | null)[] {
  const groups: Group[] = []
  const points = tops.flatMap((top, at) => (top === null ? [] : [{ at, top }]))
  for (const point of points.sort((a, b) => a.top - b.top)) {
    let group = groupOf([point], bottom)
    // A group that is spread may reach the one above it.
    for (let above = groups.at(-1); above !== undefined; above = groups.at(-1)) {
      if (group.middle - group.half - (above.middle + above.half) >= APART) break
      groups.pop()
      group = groupOf([...above.points, ...group.points], bottom)
    }
    groups.push(group)
  }
  const places: (Place | null)[] = tops.map(() => null)
  for (const { points, middle } of groups)
    for (const [n, { at }] of points.entries()) {
      const off = n - (points.length - 1) / 2
      places[at] = [left + off * beside, middle + off * APART]
    }
  return places
}

/** Points that are spread around their mean, as far up and as far down. */
interface Group {
  points: { at: number; top: number }[]
  middle: number
  half: number
}

function groupOf(points: Group['points'], bottom: number): Group {
  const half = ((points.length - 1) / 2) * APART
  const mean = points.reduce((sum, { top }) => sum + top, 0) / points.length
  return { points, middle: Math.min(mean, bottom - half), half }
}

/** Parts of a text in lines of at most so many letters. A longer part is cut. */
function wrapped(parts: readonly string[], between: string, most: number): string[] {
  const lines: string[] = []
  for (const part of parts) {
    const longer = `${lines.at(-1)}${between}${part}`
    if (lines.length > 0 && longer.length <= most) lines[lines.length - 1] = longer
    else lines.push(shortened(part, most))
  }
  return lines
}

/** Parts of a line without gaps. */
function runsOf(places: (Place | null)[]): Place[][] {
  const runs: Place[][] = [[]]
  for (const place of places) {
    if (place === null) runs.push([])
    else runs.at(-1)?.push(place)
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

/** A text without its end, which a browser would draw beyond the edge. */
function shortened(text: string, most: number): string {
  const letters = [...text]
  return letters.length > most ? `${letters.slice(0, most - 1).join('')}…` : text
}

const escaped = (text: string) => text.replace(/[&<>]/g, sign => `&#${sign.charCodeAt(0)};`)

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
