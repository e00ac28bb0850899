import { type Json, parseJson } from '#shared/encoding/json'

/** The most characters of a page's scripts that are searched for data. */
const MAX_DATA = 4_000_000
/** The most values of a page's scripts that are parsed, and the shortest one. */
const VALUES = 50
const SHORTEST_VALUE = 100

/** The JSON values in a page's scripts, also those that code assigns or parses. */
export function valuesIn(html: string): Json[] {
  const values: Json[] = []
  let room = MAX_DATA
  let tries = 0
  for (const code of scriptsIn(html)) {
    const starts = new RegExp(VALUE)
    while (starts.exec(code) !== null) {
      const from = starts.lastIndex
      const to = endOfValue(code, from, room)
      starts.lastIndex = from + 1
      room -= (to ?? code.length) - from
      if (room <= 0 || tries >= VALUES) return values
      if (to === null || to - from < SHORTEST_VALUE) continue
      tries += 1
      const value = readValue(code.slice(from, to))
      if (value === undefined) continue
      values.push(value)
      starts.lastIndex = to
    }
  }
  return values
}
const VALUE = /JSON\.parse\(\s{0,9}(?=["'])|(?:^|[=(]|<!--)\s{0,9}(?=[{[])/g

/** The contents of a page's scripts, without linked data. A script that never ends is left out. */
function* scriptsIn(html: string): Generator<string> {
  const begins = /<script\b([^<>]{0,400})>/gi
  const ends = /<\/script/gi
  for (let tag = begins.exec(html); tag !== null; tag = begins.exec(html)) {
    ends.lastIndex = begins.lastIndex
    const end = ends.exec(html)?.index
    if (end === undefined) return
    if (!/ld\+json/i.test(tag[1] ?? '')) yield html.slice(begins.lastIndex, end)
    begins.lastIndex = end
  }
}

/** The position behind the value or string that begins at `from`; null when it does not end. */
function endOfValue(code: string, from: number, most: number): number | null {
  const signs = /["'{[\]}]/g
  signs.lastIndex = from
  let depth = 0
  for (let sign = signs.exec(code); sign !== null; sign = signs.exec(code)) {
    if (sign.index - from > most) return null
    if (sign[0] === '"' || (sign[0] === "'" && depth === 0)) {
      const end = endOfText(code, sign.index, from + most)
      if (end === null || depth === 0) return end
      signs.lastIndex = end
    } else if (sign[0] !== "'") {
      depth += sign[0] === '{' || sign[0] === '[' ? 1 : -1
      if (depth <= 0) return signs.lastIndex
    }
  }
  return null
}

/** The position behind the string literal at `from`; null when it does not end before `last`. */
function endOfText(code: string, from: number, last: number): number | null {
  const quote = code.charAt(from)
  for (let at = from + 1; at < code.length && at <= last; at += 1) {
    if (code.charAt(at) === '\\') at += 1
    else if (code.charAt(at) === quote) return at + 1
  }
  return null
}

/** Reads a value as a script writes it: JSON, JSON with `undefined`, or a string of JSON. */
function readValue(written: string): Json | undefined {
  const sign = written.charAt(0)
  if (sign === '{' || sign === '[')
    return (
      parseJson(written) ??
      parseJson(
        written.replace(
          /("(?:[^"\\]|\\[\s\S])*(?:"|\\?$))|\bundefined\b/g,
          (_, text) => text ?? 'null',
        ),
      )
    )
  const inner = written
    .slice(1, -1)
    .replace(/\\.|"/gs, signs => (signs === "\\'" ? "'" : signs === '"' ? '\\"' : signs))
  const text = parseJson(sign === '"' ? written : `"${inner}"`)
  return typeof text === 'string' ? parseJson(text) : undefined
}
