import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'

/**
 * A part of the page that is open where there is room for it, and folded on narrow screens. What is
 * in it is made when it is opened first, so it asks for nothing before.
 *
 * @param minWidth a length of CSS; the style hides the summary from there on
 */
export function Unfolding(props: { title: string; className: string; minWidth: string; children: ComponentChildren }) {
  const { title, className, minWidth, children } = props
  const [open, setOpen] = useState(() => matchMedia(`(min-width: ${minWidth})`).matches)
  const [opened, setOpened] = useState(open)
  useEffect(() => {
    const room = matchMedia(`(min-width: ${minWidth})`)
    const look = () => setOpen(room.matches)
    room.addEventListener('change', look)
    return () => room.removeEventListener('change', look)
  }, [minWidth])
  useEffect(() => {
    if (open) setOpened(true)
  }, [open])
  return (
    <details class={`unfolding ${className}`} open={open} onToggle={event => setOpen(event.currentTarget.open)}>
      <summary>{title}</summary>
      {opened && children}
    </details>
  )
}
