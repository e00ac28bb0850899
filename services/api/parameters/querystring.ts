/**
 * A name and value of a query string, decoded; or the reason why they could not be read.
 */
export type WrittenParameter = { name: string; value: string } | { name: string; unreadable: string }

/**
 * Every parameter once, and each value of the lists in all three forms, are not half of these. What
 * thousands of wrong names cost to be told apart would be felt by others.
 */
const MAX_WRITTEN = 256

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Takes a raw query string (without its `?`) apart. Our own, because `country[]=` must be read, a
 * filter must never be dropped in silence, and nothing may be guessed: broken percent-encoding,
 * bytes that are no UTF-8 (lone surrogates too) and NUL are reported under the name as far as it
 * can be read (decision 11). `+` is a space (WHATWG URL, `application/x-www-form-urlencoded`).
 */
export function readQueryString(raw: string): WrittenParameter[] {
  const pairs = raw.split('&').filter(pair => pair !== '')
  const written = pairs.slice(0, MAX_WRITTEN).map(readPair)
  const next = pairs[MAX_WRITTEN]
  if (next === undefined) return written
  const unreadable = `A request may have ${MAX_WRITTEN} parameters; this one and what follows were not read.`
  return [...written, { name: readPair(next).name, unreadable }]
}

function readPair(pair: string): WrittenParameter {
  const equals = pair.indexOf('=')
  const rawName = equals < 0 ? pair : pair.slice(0, equals)
  const rawValue = equals < 0 ? '' : pair.slice(equals + 1)
  const name = decode(rawName)
  if (!name.ok) return { name: readableStart(rawName), unreadable: `The name of this parameter ${name.why}.` }
  const value = decode(rawValue)
  if (!value.ok) return { name: name.text, unreadable: `The value ${value.why}.` }
  return { name: name.text, value: value.text }
}

type Decoded = { ok: true; text: string } | { ok: false; why: string }

// The common value needs no decoding. Node hands bytes over 0x7F on as Latin-1 characters, hence
// the ASCII range.
const PLAIN = /^[\x21-\x24\x26-\x2a\x2c-\x7e]*$/

function decode(raw: string): Decoded {
  if (PLAIN.test(raw)) return { ok: true, text: raw }
  if (/%(?![0-9a-f]{2})/i.test(raw)) return { ok: false, why: 'is not percent-encoded correctly' }
  const bytes = Buffer.alloc(raw.length)
  let length = 0
  for (let i = 0; i < raw.length; i++) {
    const code = raw.charCodeAt(i)
    if (code === 0x25) {
      bytes[length++] = Number.parseInt(raw.slice(i + 1, i + 3), 16)
      i += 2
    } else {
      bytes[length++] = code === 0x2b ? 0x20 : code
    }
  }
  const content = bytes.subarray(0, length)
  if (content.includes(0)) return { ok: false, why: 'holds a NUL character' }
  try {
    return { ok: true, text: utf8.decode(content) }
  } catch {
    return { ok: false, why: 'is not valid UTF-8' }
  }
}

/**
 * The longest start of an unreadable name that can be read; all of it, as written, when not even
 * its first character can.
 */
function readableStart(raw: string): string {
  for (let end = Math.min(raw.length, 64); end > 0; end--) {
    const start = decode(raw.slice(0, end))
    if (start.ok) return start.text
  }
  return raw.slice(0, 64)
}
