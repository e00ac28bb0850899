import iconv from 'iconv-lite'

/**
 * Labels that browsers read as another encoding (WHATWG Encoding Standard, 4.2), and common
 * misspellings.
 */
const SAME_AS: Record<string, string> = {
  utf8: 'utf-8',
  'utf-8': 'utf-8',
  'unicode-1-1-utf-8': 'utf-8',
  'utf-8-sig': 'utf-8',
  utf8mb4: 'utf-8',
  'iso-8859-1': 'windows-1252',
  'iso8859-1': 'windows-1252',
  'iso_8859-1': 'windows-1252',
  'iso-88591': 'windows-1252',
  latin1: 'windows-1252',
  'latin-1': 'windows-1252',
  l1: 'windows-1252',
  ascii: 'windows-1252',
  'us-ascii': 'windows-1252',
  ansi: 'windows-1252',
  cp1252: 'windows-1252',
  'x-cp1252': 'windows-1252',
  'iso-8859-9': 'windows-1254',
  'iso-8859-11': 'windows-874',
  'utf-16': 'utf-16le',
  unicode: 'utf-16le',
  'x-sjis': 'shift_jis',
  'x-gbk': 'gbk',
  gb2312: 'gbk',
}

/** The canonical name for a label; null for an unknown label. */
export function canonicalLabel(label: string): string | null {
  const name = label.trim().toLowerCase()
  const known = SAME_AS[name]
  if (known !== undefined) return known
  return /^[a-z0-9_.:-]{2,40}$/.test(name) &&
    !/^(base64|hex|ucs2|binary|internal)$/.test(name) &&
    iconv.encodingExists(name)
    ? name
    : null
}

/** The charset of a Content-Type header (RFC 9110, 8.3), as it stands. */
export function headerLabel(contentType: string | null): string | null {
  return /;\s*charset\s*=\s*["']?\s*([^\s"';,]+)/i.exec(contentType ?? '')?.[1] ?? null
}

/**
 * Bytes that are searched for a declaration. The standard searches 1,024; pages with long comments
 * need more.
 */
const PROLOGUE = 8_192

/**
 * The document's own declaration, as written: `<?xml encoding="…"?>`, `<meta charset>`,
 * `<meta http-equiv>`.
 */
export function declaredLabel(buffer: Buffer, kind: 'html' | 'xml'): string | null {
  const prologue = buffer.toString('latin1', 0, PROLOGUE)
  const xml = /^[^<]{0,16}<\?xml\b[^>]{0,200}?\bencoding\s*=\s*["']\s*([^"']{1,40})["']/i.exec(prologue)?.[1]
  if (xml !== undefined) return xml
  if (kind === 'xml') return null
  const markup = prologue.replace(/<!--[\s\S]*?-->/g, '')
  return /<meta\b[^>]{0,300}?\bcharset\s*=\s*["']?\s*([^\s"'/>;]{1,40})/i.exec(markup)?.[1] ?? null
}
