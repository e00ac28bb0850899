import type { ComponentChildren, RefObject } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { Lag, LagHour } from '../../shared/status/figures.ts'
import { number, plural, span } from '../../shared/status/words.ts'
import { CountsTable } from './counts-table.tsx'
import { clock, type Point, runsOf, type Scale, scaleOf } from './numbers.ts'

/** Articles and lags by hour, drawn and as a table. */
export function LastDay({ hours }: { hours: LagHour[] | null }) {
  if (hours === null) return <p class="hint">Could not be read.</p>
  return (
    <>
      <div class="plots">
        <ArticlesPlot hours={hours} />
        <LagPlot
          hours={hours}
          kind="index"
          title="From publication to index"
          nothing="No article came in that was published since its outlet was added."
        />
        <LagPlot hours={hours} kind="vector" title="From index to vector" nothing="Nothing was embedded." />
      </div>
      <details class="as-table">
        <summary>These figures as a table</summary>
        <LagTable hours={hours} />
      </details>
    </>
  )
}

const LAGS = ['Articles', 'To index: median', '95 % within', 'To vector: median', '95 % within']

function LagTable({ hours }: { hours: LagHour[] }) {
  const rows = hours.map(({ hour, articles, index, vector }) => ({
    name: clock(hour),
    cells: [number(articles), ...lagCells(index), ...lagCells(vector)],
  }))
  return <CountsTable head="Hour" columns={LAGS} rows={rows} />
}

const lagCells = (lag: Lag | null) => (lag === null ? ['–', '–'] : [span(lag.median), span(lag.p95)])

/** Articles by hour, as bars. */
function ArticlesPlot({ hours }: { hours: LagHour[] }) {
  const total = hours.reduce((sum, { articles }) => sum + articles, 0)
  const top = niceAbove(Math.max(...hours.map(({ articles }) => articles)))
  return (
    <Plot
      title="Articles by hour"
      headline={number(total)}
      note="crawled and indexed in 24 hours"
      hours={hours}
      marks={[0, 0.5, 1].map(share => ({ share, label: number(share * top) }))}
      tell={({ articles }) => plural(articles, 'article')}
      draw={({ x, y, band }) =>
        hours.map(
          ({ hour, articles }, at) =>
            articles > 0 && (
              <rect
                key={hour}
                class="bar"
                x={x(at) - band * 0.36}
                y={y(articles / top)}
                width={band * 0.72}
                height={y(0) - y(articles / top)}
                rx={1.5}
              />
            ),
        )
      }
    />
  )
}

/** A round number that is at least `n`, and even. */
function niceAbove(n: number): number {
  const unit = 10 ** Math.floor(Math.log10(Math.max(n, 10)))
  return [1, 2, 4, 6, 8, 10].map(step => step * unit).find(top => top >= n) ?? n
}

/** A lag by hour: the median as a line, and an area from it up to the 95th percentile. */
function LagPlot(props: { hours: LagHour[]; kind: 'index' | 'vector'; title: string; nothing: string }) {
  const { hours, kind, title, nothing } = props
  const points = hours.flatMap(({ [kind]: lag }, at) => (lag === null ? [] : [{ at, ...lag }]))
  const last = points.at(-1)
  const tell = ({ [kind]: lag }: LagHour) =>
    lag === null ? 'none' : `median ${span(lag.median)}; 95 % within ${span(lag.p95)}`
  if (last === undefined) {
    return <Plot title={title} headline="–" note={nothing} hours={hours} marks={[]} tell={tell} draw={() => null} />
  }
  const scale = scaleOf(points)
  return (
    <Plot
      title={title}
      headline={span(last.median)}
      note={`median; 95 % within ${span(last.p95)}`}
      hours={hours}
      marks={scale.marks}
      tell={tell}
      draw={area => <Lines points={points} last={last} scale={scale} area={area} />}
    />
  )
}

function Lines({ points, last, scale, area }: { points: Point[]; last: Point; scale: Scale; area: Area }) {
  const at = (hour: number, seconds: number) => `${area.x(hour)} ${area.y(scale.shareOf(seconds))}`
  return (
    <>
      {runsOf(points).map(run => {
        const up = run.map(({ at: hour, p95 }) => at(hour, p95))
        const down = run.map(({ at: hour, median }) => at(hour, median))
        // A single hour would have no width.
        const wide = run.length === 1 ? 'h.01' : ''
        return (
          <g key={run[0]?.at}>
            <path class="area" d={`M${up.join('L')}${wide}L${down.toReversed().join('L')}z`} />
            <path class="line" d={`M${down.join('L')}${wide}`} />
          </g>
        )
      })}
      <circle class="point" cx={area.x(last.at)} cy={area.y(scale.shareOf(last.median))} r={3.5} />
    </>
  )
}

const HEIGHT = 168
const LEFT = 54
const RIGHT = 4
const BOTTOM = 24
const TOP = 10
/** The width of an hour from which every sixth has its label; below, every twelfth. */
const WIDE = 9

/** Where things are drawn. */
interface Area {
  /** The middle of an hour. */
  x(hour: number): number
  /** @param share 0 at the bottom, 1 at the top */
  y(share: number): number
  /** The width of an hour. */
  band: number
}

/** A horizontal line with its label, at a share of the height. */
interface Mark {
  share: number
  label: string
}

/** A chart of 24 hours with its headline. The hour under the pointer tells its figures instead. */
function Plot(props: {
  title: string
  headline: string
  note: string
  hours: LagHour[]
  marks: Mark[]
  tell(hour: LagHour): string
  draw(area: Area): ComponentChildren
}) {
  const { title, headline, note, hours, marks, tell, draw } = props
  const [place, width] = useWidth<HTMLElement>(360)
  const [pointed, setPointed] = useState<number | null>(null)
  const band = (width - LEFT - RIGHT) / hours.length
  const area: Area = {
    x: hour => LEFT + band * (hour + 0.5),
    y: share => TOP + (1 - share) * (HEIGHT - TOP - BOTTOM),
    band,
  }
  const hourAt = (event: PointerEvent) => {
    const { left, width: seen } = (place.current ?? document.body).getBoundingClientRect()
    const hour = Math.floor((((event.clientX - left) / seen) * width - LEFT) / band)
    setPointed(hour >= 0 && hour < hours.length ? hour : null)
  }
  const told = pointed === null ? undefined : hours[pointed]
  return (
    <figure ref={place}>
      <figcaption>
        <span class="title">{title}</span>
        <strong>{headline}</strong>
        <span class="told">{told === undefined ? note : `${clock(told.hour)}: ${tell(told)}`}</span>
      </figcaption>
      {marks.length > 0 && (
        <svg
          viewBox={`0 0 ${width} ${HEIGHT}`}
          role="img"
          aria-label={`${title}: ${headline} ${note}`}
          onPointerMove={hourAt}
          onPointerDown={hourAt}
          onPointerLeave={() => setPointed(null)}
        >
          {pointed !== null && (
            <rect class="pointed" x={area.x(pointed) - band / 2} y={TOP} width={band} height={HEIGHT - TOP - BOTTOM} />
          )}
          {marks.map(mark => (
            <Grid key={mark.label} y={area.y(mark.share)} width={width} label={mark.label} />
          ))}
          {draw(area)}
          <Hours hours={hours} area={area} />
        </svg>
      )}
    </figure>
  )
}

const Grid = ({ y, width, label }: { y: number; width: number; label: string }) => (
  <>
    <line class="grid" x1={LEFT} x2={width - RIGHT} y1={y} y2={y} />
    <text class="axis" x={LEFT - 8} y={y + 4} text-anchor="end">
      {label}
    </text>
  </>
)

/** Hours below the plot. The last is the present one. */
const Hours = ({ hours, area }: { hours: LagHour[]; area: Area }) => (
  <>
    {hours.map(
      ({ hour }, at) =>
        at % (area.band < WIDE ? 12 : 6) === 0 && (
          <text key={hour} class="axis" x={area.x(at)} y={HEIGHT - 5} text-anchor="middle">
            {clock(hour)}
          </text>
        ),
    )}
    <text class="axis" x={area.x(hours.length - 1) + area.band / 2} y={HEIGHT - 5} text-anchor="end">
      now
    </text>
  </>
)

/** The letters of 16 px, on which drawings are measured. */
const USUAL_LETTERS = 16

/**
 * The width of a place, in pixels as large as with the usual size of letters. A drawing of this
 * width has letters as large as those around it, whatever the size of the screen.
 */
function useWidth<E extends Element>(first: number): [RefObject<E | null>, number] {
  const place = useRef<E | null>(null)
  const [width, setWidth] = useState(first)
  useLayoutEffect(() => {
    const { current } = place
    if (current === null) return
    const measure = () => {
      const letters = Number.parseFloat(getComputedStyle(document.documentElement).fontSize)
      if (current.clientWidth > 0) setWidth(Math.round((current.clientWidth * USUAL_LETTERS) / letters))
    }
    // Called once at first, before anything is painted.
    const sizes = new ResizeObserver(measure)
    sizes.observe(current)
    return () => sizes.disconnect()
  }, [])
  return [place, width]
}
