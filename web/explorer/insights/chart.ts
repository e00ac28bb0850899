import uPlot from 'uplot'
import type { Count } from '#clients/typescript/src/index'
import { axesOf, type Look, WHOLE_STEPS } from '#web/parts/chart'
import type { Bucket } from './over-time.ts'

export interface ChartOptions {
  data: Bucket[]
  /**
   * The label of a bucket on the axis.
   * @param before the bucket of the previous label; null: this label is the first
   */
  tick(at: Date, before: Date | null): string
  /** From this time on bars are pale, because not all of their articles can be found yet. */
  waitingFrom: string | null
  number(value: number): string
  onPoint(index: number | null): void
  /** A click, or a brush over several bars. */
  onSelect(first: number, last: number): void
}

/** Height of the drawing, in `rem`. The style reserves it (`.chart`), so that nothing moves. */
const HEIGHT = 8.65

/** Pixels. A shorter brush counts as a click. */
const CLICK = 4

/** Draws counts by time as bars with uPlot, in the colours of the page. */
export function drawChart(place: HTMLElement, look: Look, options: ChartOptions): uPlot {
  const { data, tick, number, onPoint, onSelect } = options
  const { rem } = look
  const barAt = (value: number) => Math.min(data.length - 1, Math.max(0, Math.round(value)))
  const bars = uPlot.paths.bars?.({ size: [0.84, 60], radius: 0.08 })
  const drawn = (colour: string): uPlot.Series => ({
    fill: colour,
    stroke: colour,
    width: 0,
    points: { show: false },
    ...(bars ? { paths: bars } : {}),
  })
  const isPale = ({ to }: Count) =>
    options.waitingFrom !== null && to !== undefined && to >= options.waitingFrom
  return new uPlot(
    {
      width: place.clientWidth,
      height: HEIGHT * rem,
      // The right side has room for half of the last label.
      padding: [8, 1.6 * rem, 0, 0],
      legend: { show: false },
      cursor: {
        y: false,
        points: { show: false },
        drag: {
          x: true,
          y: false,
          setScale: false,
          // Without this, uPlot stops each click whose pointer has moved, if only by a pixel.
          click: ({ select }, event) => select.width >= CLICK && event.stopPropagation(),
        },
      },
      scales: {
        // Buckets are placed by number, because they differ in length.
        x: { time: false, range: [-0.6, data.length - 0.4] },
        y: { range: (_plot, _low, high) => [0, Math.max(1, high * 1.06)] },
      },
      axes: axesOf(
        look,
        {
          space: 5.6 * rem,
          incrs: [1, 2, 3, 4, 5, 7, 10, 14, 20, 30, 50, 100, 200, 500, 1_000],
          values: (_plot, splits) =>
            splits.map((at, n) => labelOf(data[at], data[splits[n - 1] ?? -1], tick)),
        },
        {
          size: 2.6 * rem,
          space: 2 * rem,
          incrs: WHOLE_STEPS,
          values: (_plot, splits) => splits.map(number),
        },
      ),
      series: [{}, drawn(look.bar), drawn(look.pale)],
      hooks: {
        drawAxes: [drawn => stripeGaps(drawn, data, look.gap)],
        setCursor: [({ cursor }) => onPoint(typeof cursor.idx === 'number' ? cursor.idx : null)],
        // uPlot tells of selections that have a width alone, so a click is heard by itself.
        setSelect: [
          ({ select: { left, width }, posToVal }) =>
            width >= CLICK &&
            onSelect(barAt(posToVal(left, 'x')), barAt(posToVal(left + width, 'x'))),
        ],
        ready: [
          ({ over, posToVal }) =>
            over.addEventListener('click', ({ offsetX }) => {
              const clicked = barAt(posToVal(offsetX, 'x'))
              onSelect(clicked, clicked)
            }),
        ],
      },
    },
    [
      data.map((_count, index) => index),
      data.map(one => (isPale(one) ? null : one.count)),
      data.map(one => (isPale(one) ? one.count : null)),
    ],
    place,
  )
}

/** Pixels of CSS between two stripes. */
const STRIPES = 7

/** Draws stripes behind the bars of gaps, over the whole height: a gap may have no bar. */
function stripeGaps({ ctx, bbox, valToPos }: uPlot, data: Bucket[], colour: string): void {
  for (const [index, { gap }] of data.entries()) {
    if (!gap) continue
    const left = valToPos(index - 0.45, 'x', true)
    const right = valToPos(index + 0.45, 'x', true)
    ctx.save()
    ctx.beginPath()
    ctx.rect(left, bbox.top, right - left, bbox.height)
    ctx.clip()
    ctx.beginPath()
    for (let x = left - bbox.height; x < right; x += STRIPES * devicePixelRatio) {
      ctx.moveTo(x, bbox.top + bbox.height)
      ctx.lineTo(x + bbox.height, bbox.top)
    }
    Object.assign(ctx, {
      strokeStyle: colour,
      globalAlpha: 0.45,
      lineWidth: 1.5 * devicePixelRatio,
    })
    ctx.stroke()
    ctx.restore()
  }
}

function labelOf(
  count: Count | undefined,
  before: Count | undefined,
  tick: ChartOptions['tick'],
): string {
  return count?.from ? tick(new Date(count.from), before?.from ? new Date(before.from) : null) : ''
}
