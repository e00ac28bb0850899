/** The parts that can be away. No request needs Redis; workers may end without it. */
export type Part = 'postgres' | 'qdrant' | 'model' | 'redis' | `api-${number}`

/** When which part was away, and the time after it in which everything must have recovered. */
export interface Outages {
  /** Begins an outage of the parts; what it returns ends it. */
  begin(parts: readonly Part[]): () => void
  /** Whether something that needed `parts` from `from` to `to` (ms since 1970) may have failed. */
  excuse(parts: readonly Part[], from: number, to?: number): boolean
}

/** "Ten seconds after Postgres is back every API answers again." */
export const RECOVERY_MS = 10_000

export function createOutages(): Outages {
  const outages: { parts: readonly Part[]; from: number; to: number }[] = []
  return {
    begin(parts) {
      const outage = { parts, from: Date.now(), to: Number.POSITIVE_INFINITY }
      outages.push(outage)
      return () => {
        outage.to = Date.now() + RECOVERY_MS
      }
    },
    excuse: (parts, from, to = Date.now()) =>
      outages.some(outage => from <= outage.to && to >= outage.from && parts.some(part => outage.parts.includes(part))),
  }
}
