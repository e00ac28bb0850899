/** A JSON value, as `JSON.parse` gives it. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

/** Parses JSON; undefined: the text is none. */
export function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * Whether the JSON is nested deeper than any feed or page needs. `JSON.parse` would take seconds
 * for megabytes of brackets.
 */
export function isDeep(text: string): boolean {
  let depth = 0
  let inString = false
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (inString) {
      if (code === BACKSLASH) at += 1
      else if (code === QUOTE) inString = false
    } else if (code === QUOTE) inString = true
    else if (code === 0x5b || code === 0x7b) {
      depth += 1
      if (depth > MAX_DEPTH) return true
    } else if (code === 0x5d || code === 0x7d) depth -= 1
  }
  return false
}

const MAX_DEPTH = 100
const QUOTE = 0x22
const BACKSLASH = 0x5c
