/*
 * Titles, feeds' errors and file names are written by others. A terminal obeys control characters:
 * they clear it, rename its window, or write over the line before. Marks of direction show one text
 * as another. So all of them are printed as `\u001b`, which is also what they are in a string of
 * JSON: there, the value stays the same.
 */
const CONTROL = /[\p{Cc}\u202A-\u202E\u2066-\u2069]/gu

const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

/** Escapes a text for terminals. Line breaks and tabs stay. */
export const printable = (text: string): string =>
  text.replace(CONTROL, character => (character === '\n' || character === '\t' ? character : escaped(character)))

/** Escapes a part of a line for terminals, with its line breaks and tabs. */
export const printableLine = (text: string): string => text.replace(CONTROL, escaped)

/** Escapes XML for terminals. For a parser of XML it stays the same. */
export const printableXml = (xml: string): string =>
  xml.replace(CONTROL, character =>
    character === '\n' || character === '\t' ? character : `&#x${character.charCodeAt(0).toString(16)};`,
  )
