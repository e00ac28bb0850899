// Elements and words for the page. Text is only ever set as text: names of outlets and their errors come from outside.

/** An HTML element: attributes, then children (elements or text; null is left out). */
export const h = (name, attributes, ...children) => fill(document.createElement(name), attributes, children)

/** An SVG element. */
export const s = (name, attributes, ...children) =>
  fill(document.createElementNS('http://www.w3.org/2000/svg', name), attributes, children)

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value !== null && value !== false) element.setAttribute(name, value)
  }
  element.append(...children.filter(child => child !== null && child !== undefined))
  return element
}

/** 1234567 as "1,234,567", and from a million on as "1.23 M". */
export function number(n) {
  return n < 1_000_000 ? n.toLocaleString('en') : `${(n / 1_000_000).toFixed(n < 10_000_000 ? 2 : 1)} M`
}

export const plural = (n, one, many = `${one}s`) => `${number(n)} ${n === 1 ? one : many}`

/** Seconds in one unit: "40 s", "12 min", "3.5 h", "9 days". */
export function span(seconds) {
  if (seconds < 90) return `${seconds < 10 ? Math.round(seconds * 10) / 10 : Math.round(seconds)} s`
  if (seconds < 5_400) return `${Math.round(seconds / 60)} min`
  if (seconds < 129_600) return `${short(seconds / 3_600)} h`
  return `${short(seconds / 86_400)} days`
}

const short = n => (n < 10 ? Math.round(n * 10) / 10 : Math.round(n).toLocaleString('en'))

/** Time since an instant, on the server's clock. */
export function ago(instant, now) {
  return instant === null ? 'never' : `${span(Math.max(0, (now - Date.parse(instant)) / 1_000))} ago`
}
