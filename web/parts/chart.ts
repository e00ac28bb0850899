import type { RefObject } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type uPlot from 'uplot'

/** The colours and fonts of the page, for a canvas. */
export interface Look {
  soft: string
  rule: string
  bar: string
  /** The colour of the area between a line and its upper bound. */
  area: string
  pale: string
  gap: string
  font: string
  /** A `rem` in pixels, because letters grow with the screen. */
  rem: number
}

function lookOf(place: HTMLElement): Look {
  const style = getComputedStyle(place)
  // Colours are computed, because a canvas knows neither variables nor `light-dark()`.
  const colour = (written: string) => {
    place.style.color = written
    return style.color
  }
  const rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize)
  const look = {
    soft: colour('var(--soft)'),
    rule: colour('var(--rule)'),
    bar: colour('var(--chart)'),
    area: colour('color-mix(in srgb, var(--chart) 22%, transparent)'),
    pale: colour('var(--edge)'),
    gap: colour('var(--bad)'),
    font: `${0.78 * rem}px ${style.fontFamily}`,
    rem,
  }
  place.style.color = ''
  return look
}

/**
 * Draws a chart into the element that gets the reference. Draws it again when `draw`, the size or
 * the colours change.
 *
 * @param draw appends a chart to the place
 */
export function useChart(
  draw: (place: HTMLElement, look: Look) => Promise<uPlot>,
): RefObject<HTMLDivElement | null> {
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const { current } = place
    if (current === null) return
    let chart: uPlot | null = null
    let gone = false
    const drawAgain = async () => {
      const drawn = await draw(current, lookOf(current))
      chart?.destroy()
      chart = drawn
      if (gone) drawn.destroy()
    }
    const redraw = () => void drawAgain().catch(() => {}) // the table remains
    const scheme = matchMedia('(prefers-color-scheme: dark)')
    const sizes = new ResizeObserver(() =>
      chart?.setSize({ width: current.clientWidth, height: chart.height }),
    )
    scheme.addEventListener('change', redraw)
    sizes.observe(current)
    redraw()
    return () => {
      gone = true
      scheme.removeEventListener('change', redraw)
      sizes.disconnect()
      chart?.destroy()
    }
  }, [draw])
  return place
}

/** The axes of a chart over time. The labels are below it, and grid lines behind it. */
export function axesOf(
  { soft, rule, font, rem }: Look,
  below: uPlot.Axis,
  beside: uPlot.Axis,
): uPlot.Axis[] {
  const axis = { stroke: soft, font, gap: 4, ticks: { show: false } }
  return [
    // A larger gap keeps the labels away from the zero of the other axis.
    { ...axis, gap: 0.55 * rem, size: 1.9 * rem, grid: { show: false }, ...below },
    { ...axis, grid: { stroke: rule, width: 1 }, ...beside },
  ]
}

/** Steps of an axis for counts, which have no fractions. */
export const WHOLE_STEPS = [1, 10, 100, 1e3, 1e4, 1e5, 1e6].flatMap(unit => [
  unit,
  2 * unit,
  5 * unit,
])
