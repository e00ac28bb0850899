import uPlot from 'uplot'
import type { Count } from './counts.ts'

/** A drawn timeline. */
export interface Chart {
  /** Takes the width of its place. */
  resize(): void
  destroy(): void
}

export interface ChartOptions {
  place: HTMLElement
  data: Count[]
  /** The labels of a bucket: on the axis, and whole. */
  tick(at: Date): string
  number(value: number): string
  onPoint(index: number | null): void
  /** A click, or a brush over several bars. */
  onSelect(first: number, last: number): void
}

/** Of the drawing, in letters of the page; the style keeps the place free. */
const HEIGHT = 8.25

/** Below so many pixels a brush is a click. */
const CLICK = 4

/** Draws counts by time as bars with uPlot, in the colours of the page. */
export function drawChart(options: ChartOptions): Chart {
  const { place, data, onPoint, onSelect } = options
  const style = getComputedStyle(place)
  const colour = (name: string) => style.getPropertyValue(name).trim()
  // In units of the page's letters, which grow with the screen.
  const rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize)
  const height = HEIGHT * rem
  const font = `${0.78 * rem}px ${style.fontFamily}`
  const axis = { stroke: colour('--soft'), font, ticks: { show: false }, grid: { stroke: colour('--rule'), width: 1 } }
  const bars = uPlot.paths.bars?.({ size: [0.84, 60], radius: 0.08 })
  const plot = new uPlot(
    {
      width: place.clientWidth,
      height,
      padding: [8, 8, 0, 0],
      legend: { show: false },
      cursor: { y: false, points: { show: false }, drag: { x: true, y: false, setScale: false } },
      scales: {
        // By number: buckets of time are not all of one length.
        x: { time: false, range: [-0.6, data.length - 0.4] },
        y: { range: (_plot, _low, high) => [0, Math.max(1, high * 1.06)] },
      },
      axes: [
        {
          ...axis,
          size: 1.5 * rem,
          gap: 4,
          grid: { show: false },
          space: 5.6 * rem,
          incrs: [1, 2, 3, 4, 5, 7, 10, 14, 20, 30, 50, 100, 200, 500],
          values: (_plot, splits) => splits.map(at => labelOf(data[at], options.tick)),
        },
        {
          ...axis,
          size: 2.6 * rem,
          gap: 4,
          space: 2 * rem,
          incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5, 5e5, 1e6],
          values: (_plot, splits) => splits.map(options.number),
        },
      ],
      series: [
        {},
        {
          fill: colour('--chart'),
          stroke: colour('--chart'),
          width: 0,
          points: { show: false },
          ...(bars === undefined ? {} : { paths: bars }),
        },
      ],
      hooks: {
        setCursor: [({ cursor }) => onPoint(typeof cursor.idx === 'number' ? cursor.idx : null)],
        setSelect: [
          ({ select, posToVal, cursor }) => {
            if (select.width < CLICK) {
              if (typeof cursor.idx === 'number') onSelect(cursor.idx, cursor.idx)
              return
            }
            const at = (left: number) => Math.min(data.length - 1, Math.max(0, Math.round(posToVal(left, 'x'))))
            onSelect(at(select.left), at(select.left + select.width))
          },
        ],
      },
    },
    [data.map((_count, index) => index), data.map(({ count }) => count)],
    place,
  )
  return {
    resize: () => plot.setSize({ width: place.clientWidth, height }),
    destroy: () => plot.destroy(),
  }
}

function labelOf(count: Count | undefined, tick: (at: Date) => string): string {
  return count?.span ? tick(new Date(count.span.from)) : ''
}
