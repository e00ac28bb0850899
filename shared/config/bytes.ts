const UNITS = { kB: 2 ** 10, MB: 2 ** 20, GB: 2 ** 30 } as const

/**
 * Bytes of a size written as `512kB`, `64MB`, `2GB` or `1.5GB` (powers of 1,024), or a bare `0`.
 * Returns null for anything else.
 */
export function parseBytes(text: string): number | null {
  if (/^0+$/.test(text)) return 0
  const match = /^(\d{1,6}(?:\.\d{1,3})?)(kB|MB|GB)$/.exec(text.trim())
  if (!match) return null
  return Math.round(Number(match[1]) * UNITS[match[2] as keyof typeof UNITS])
}
