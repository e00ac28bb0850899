import type { Json } from './jsonld-nodes.ts'

/**
 * Parses a JSON-LD script, with the wrappers that outlets put around it and the mistakes that their
 * templates make. Undefined when it cannot be repaired.
 */
export function parseTolerantly(script: string): Json | undefined {
  const bare = script
    .replace(/^\s*(?:<!--|\/\*\s*<!\[CDATA\[\s*\*\/|\/\/\s*<!\[CDATA\[|<!\[CDATA\[)/, '')
    .replace(/(?:-->|\/\*\s*\]\]>\s*\*\/|\/\/\s*\]\]>|\]\]>)\s*$/, '')
    .replace(/^\uFEFF/, '')
    .trim()
    .replace(/;$/, '')
  if (bare === '') return undefined
  return parse(bare) ?? parse(mend(bare)) ?? parse(mend(bare.replaceAll('&quot;', '"')))
}

/** Reads the content of a JSON string; as it stands when its escapes are broken. */
export function unquote(text: string): string {
  const value = parse(`"${text}"`)
  return typeof value === 'string' ? value : text
}

function parse(text: string): Json | undefined {
  try {
    const value: Json = JSON.parse(text)
    return value ?? undefined
  } catch {
    return undefined
  }
}

/**
 * Repairs raw line breaks and tabs inside strings, escapes that JSON does not know, commas before a
 * closing bracket, two objects in a row.
 */
function mend(text: string): string {
  const mended = text
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what breaks the parser
    .replace(/[\u0000-\u0020]+/g, ' ')
    .replace(/\\(?!["\\/bfnrtu])/g, '\\\\')
    .replace(/\\u(?![0-9a-fA-F]{4})/g, '\\\\u')
    .replace(/,\s*(?=[}\]])/g, '')
  return /\} ?,? ?\{/.test(mended) && mended.startsWith('{') ? `[${mended.replace(/\} ?\{/g, '},{')}]` : mended
}
