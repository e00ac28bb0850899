import type { ComponentChildren, RefObject } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { LagHour } from '../../shared/status/figures.ts'
import { clock } from './numbers.ts'

const HEIGHT = 168
const LEFT = 54
const RIGHT = 4
const BOTTOM = 24
const TOP = 10
/** The width of an hour from which every sixth has its label; below, every twelfth. */
const WIDE = 9

/** Where things are drawn. */
export interface Area {
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
export function Plot(props: {
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
