import type { RefObject } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'

/** The letters of 16 px, on which drawings are measured. */
const USUAL_LETTERS = 16

/**
 * The width of a place, in pixels as large as with the usual size of letters. A drawing of this
 * width has letters as large as those around it, whatever the size of the screen.
 */
export function useWidth<E extends Element>(first: number): [RefObject<E | null>, number] {
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
