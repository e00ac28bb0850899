/*
 * Outlets and other people write titles, error texts of feeds and file names. A terminal obeys
 * control characters: they clear it, rename its window, or overwrite the line before. Marks of
 * direction make one text look like another. So these functions escape all of them, as in `\u001b`.
 * JSON has the same escapes, so a JSON string keeps its value.
 */
const CONTROL = /[\p{Cc}\u202A-\u202E\u2066-\u2069]/gu

const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

/** Escapes a text for terminals. Line breaks and tabs stay. */
export const printable = (text: string): string =>
  text.replace(CONTROL, character =>
    character === '\n' || character === '\t' ? character : escaped(character),
  )

/** Escapes a text that must stay within a line. Line breaks and tabs are escaped too. */
export const printableLine = (text: string): string => text.replace(CONTROL, escaped)

/**
 * Any thrown value or rejection reason as text, never "[object Object]". pg-boss and pools emit
 * plain objects, `fetch` hides the reason in a cause, and an `AggregateError` has several failures.
 */
export function describe(error: unknown): string {
  try {
    return wordsOf(error) || NO_WORDS
  } catch {
    // A getter threw, or the object contains itself.
    return NO_WORDS
  }
}

const NO_WORDS = 'an error without a message'

function wordsOf(error: unknown): string {
  if (typeof error === 'string') return error.trim()
  if (typeof error === 'number' || typeof error === 'bigint' || typeof error === 'boolean')
    return `${error}`
  if (typeof error !== 'object' || error === null) return ''
  if (error instanceof AggregateError && error.errors.length > 0) return describe(error.errors[0])
  const message =
    'message' in error && typeof error.message === 'string' ? error.message.trim() : ''
  const cause = 'cause' in error ? error.cause : undefined
  if ((message === '' || message === 'fetch failed') && cause !== undefined) return describe(cause)
  if (message !== '') return message
  if (error instanceof Error) return error.name
  const json = JSON.stringify(error)
  return json === '{}' || json === undefined ? '' : json
}

/** A number and its noun in the right form, such as `1 feed` and `0 feeds`. */
export function counted(n: number, one: string, many = `${one}s`): string {
  return `${n} ${n === 1 ? one : many}`
}
