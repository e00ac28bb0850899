import iconv from 'iconv-lite'

/**
 * Decodes a document whose declarations may be missing or wrong. When byte-order mark, HTTP header,
 * declaration and bytes disagree, the most legible text wins. Valid UTF-8 with characters beyond
 * ASCII wins over every label. Unknown labels are ignored. NULs are left out.
 *
 * @param bytes the document, after Content-Encoding was undone
 * @param options.contentType the Content-Type header, null without one
 * @param options.kind where to look for a declaration: `<meta charset>` or `<?xml encoding?>`
 */
export function decodeText(
  bytes: Uint8Array,
  options: { contentType: string | null; kind: 'html' | 'xml' },
): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const labels = [headerLabel(options.contentType), declaredLabel(buffer, options.kind)]
  const known = labels.flatMap(label => (label === null ? [] : (canonicalLabel(label) ?? [])))
  return iconv
    .decode(buffer, chooseEncoding(buffer, known), { stripBOM: true })
    .replaceAll('\u0000', '')
}

/**
 * @param labels canonical names of the declared encodings, in order of precedence
 */
function chooseEncoding(buffer: Buffer, labels: string[]): string {
  if (beginsAsUtf8(buffer)) return wideEncoding(buffer) ?? 'utf-8'
  const wide = markedEncoding(buffer) ?? wideEncoding(buffer)
  if (wide !== null && wide !== 'utf-8') return wide
  if (mostlyUtf8(buffer)) return 'utf-8'
  // Without a label, bytes above 127 are mostly Western European in the countries that we cover.
  const candidates = [...labels.filter(label => !label.startsWith('utf')), 'windows-1252']
  const sample = buffer.subarray(0, SAMPLE)
  const scores = candidates.map(label => legibility(iconv.decode(sample, label)))
  return candidates[scores.indexOf(Math.max(...scores))] ?? 'windows-1252'
}

/** How many bytes are enough to compare encodings. */
const SAMPLE = 65_536

/** Byte-order marks in hexadecimal digits (Unicode Standard, 23.8), longer ones first. */
const MARKS = { 'utf-32le': 'fffe0000', 'utf-16le': 'fffe', 'utf-16be': 'feff', 'utf-8': 'efbbbf' }

/** The encoding that a byte-order mark names. */
function markedEncoding(buffer: Buffer): string | null {
  const beginning = buffer.toString('hex', 0, 4)
  return Object.entries(MARKS).find(([, mark]) => beginning.startsWith(mark))?.[0] ?? null
}

/**
 * Recognises UTF-16 without a byte-order mark. Markup is ASCII, so every other byte at the
 * beginning is NUL.
 */
function wideEncoding(buffer: Buffer): string | null {
  const length = Math.min(buffer.length, 512) & ~1
  if (length < 8) return null
  let even = 0
  let odd = 0
  for (let at = 0; at < length; at += 2) {
    if (buffer[at] === 0) even += 1
    if (buffer[at + 1] === 0) odd += 1
  }
  if (odd > length * 0.35 && even < length * 0.05) return 'utf-16le'
  if (even > length * 0.35 && odd < length * 0.05) return 'utf-16be'
  return null
}

/** Whether a document is UTF-8. One that was cut off may end within a character. */
function beginsAsUtf8(buffer: Buffer): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(buffer, { stream: true })
    return true
  } catch {
    return false
  }
}

/** Whether most of the bytes are UTF-8, and only a few bytes have another encoding. */
function mostlyUtf8(buffer: Buffer): boolean {
  const text = buffer.toString('utf8')
  return lengthOf(text, /[^\0-\x7f\ufffd]+/g) > 3 * lengthOf(text, /\ufffd+/g)
}

/** Labels that are often misspelt, with the right label. */
const SAME_AS: Record<string, string> = {
  'utf-8-sig': 'utf-8',
  utf8mb4: 'utf-8',
  'iso-88591': 'windows-1252',
  'latin-1': 'windows-1252',
  ansi: 'windows-1252',
}

/**
 * The canonical name for a label; null for an unknown label. Browsers read some labels as another
 * encoding (WHATWG Encoding Standard, 4.2), for instance `latin1` and `ascii`.
 */
function canonicalLabel(label: string): string | null {
  const written = label.trim().toLowerCase()
  const name = SAME_AS[written] ?? ofBrowsers(written) ?? written
  return /^[a-z0-9_.:-]{2,40}$/.test(name) &&
    !/^(base64|hex|ucs2|binary|internal)$/.test(name) &&
    iconv.encodingExists(name)
    ? name
    : null
}

function ofBrowsers(label: string): string | null {
  try {
    return new TextDecoder(label).encoding
  } catch {
    return null
  }
}

/** The charset in a Content-Type header (RFC 9110, 8.3), unchanged. */
const headerLabel = (contentType: string | null): string | null =>
  /;\s{0,9}charset\s{0,9}=[\s"']{0,9}([^\s"';,]{1,60})/i.exec(contentType ?? '')?.[1] ?? null

/**
 * How many bytes are searched for a declaration. The standard asks for 1,024, but pages with long
 * comments need more.
 */
const PROLOGUE = 8_192

/**
 * The encoding that the document itself declares, unchanged: `<?xml encoding="…"?>`,
 * `<meta charset>`, `<meta http-equiv>`.
 */
function declaredLabel(buffer: Buffer, kind: 'html' | 'xml'): string | null {
  const prologue = buffer.toString('latin1', 0, PROLOGUE)
  const xml =
    /^[^<]{0,16}<\?xml\b[^>]{0,200}?\bencoding\s{0,9}=\s{0,9}["']\s{0,9}([^\s"'][^"']{0,39})["']/i.exec(
      prologue,
    )?.[1]
  if (xml !== undefined) return xml
  if (kind === 'xml') return null
  // A comment without an end hides the rest of the prologue. The comment `<!-->` is empty.
  const markup = prologue.replace(/<!--(?:-?>|[\s\S]*?(?:-->|$))/g, '')
  return (
    /<meta\b[^>]{0,300}?\bcharset\s{0,9}=[\s"']{0,9}([^\s"'/>;]{1,40})/i.exec(markup)?.[1] ?? null
  )
}

/** How many UTF-16 units the matches of a pattern have in total. */
const lengthOf = (text: string, pattern: RegExp): number =>
  text.match(pattern)?.join('').length ?? 0

/**
 * A score for decoded text, to compare two decodings of the same bytes. Letters beyond ASCII raise
 * it. Replacement and control characters, signs or capitals inside words, and words of accented
 * letters alone lower it.
 */
function legibility(text: string): number {
  const count = (pattern: RegExp) => lengthOf(text, pattern)
  return (
    count(/(?![a-z])\p{L}/giu) -
    3 * count(/[\u00c0-\u024f]{4,}/g) -
    10 * count(/\ufffd/g) -
    10 * count(/(?!\s)\p{Cc}/gu) -
    5 * count(/(?<=\p{L})[¡-©«-´¶-¿×÷‰†‡•˜ˆ](?=\p{Ll})/gu) -
    2 * count(/(?<=\p{Ll})\p{Lu}(?=\p{Ll})/gu)
  )
}
