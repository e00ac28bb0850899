const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/**
 * Milliseconds of a duration written as `500ms`, `30s`, `5m`, `2h`, `1d`, or a bare `0`.
 * Returns null for anything else.
 */
export function parseDuration(text: string): number | null {
  if (/^0+$/.test(text)) return 0
  const match = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s|m|h|d)$/.exec(text.trim())
  if (!match) return null
  return Math.round(Number(match[1]) * UNITS[match[2] as keyof typeof UNITS])
}

/** The inverse of `parseDuration`, in the largest unit that divides it. */
export function formatDuration(ms: number): string {
  if (ms === 0) return '0'
  for (const unit of ['d', 'h', 'm', 's'] as const) {
    if (ms % UNITS[unit] === 0) return `${ms / UNITS[unit]}${unit}`
  }
  return `${ms}ms`
}
