import iconv from 'iconv-lite'

/** Escapes text for HTML and XML, in elements and in double-quoted attributes. */
export function escapeMarkup(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}

export type Charset = 'utf-8' | 'windows-1252' | 'iso-8859-1' | 'iso-8859-15'

/**
 * Encodes HTML or XML. A character that the charset lacks becomes a numeric reference, as in real
 * content systems.
 */
export function encodeMarkup(markup: string, charset: Charset): Buffer {
  if (charset === 'utf-8') return Buffer.from(markup)
  const writable = (character: string) => iconv.decode(iconv.encode(character, charset), charset) === character
  const safe = markup.replace(/[\u0080-\u{10ffff}]/gu, character =>
    writable(character) ? character : `&#${character.codePointAt(0)};`,
  )
  return iconv.encode(safe, charset)
}
