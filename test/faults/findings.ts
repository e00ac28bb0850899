/** The broken promises, as sentences. */
export interface Findings {
  add(sentence: string): void
  sentences(): string[]
}

/** Of one kind only so many are told: a broken system would fill pages. */
const MOST_OF_A_KIND = 12

/** @param tell called with each finding as it is made */
export function createFindings(tell: (sentence: string) => void): Findings {
  const all: string[] = []
  const kinds = new Map<string, number>()
  return {
    add(sentence) {
      // Sentences that differ in numbers and identifiers only are of one kind.
      const kind = sentence.replace(/[\w-]*\d[\w.:-]*/g, '#').slice(0, 60)
      const count = (kinds.get(kind) ?? 0) + 1
      kinds.set(kind, count)
      if (count > MOST_OF_A_KIND) return
      all.push(sentence)
      tell(sentence)
    },
    sentences() {
      const more = [...kinds].filter(([, count]) => count > MOST_OF_A_KIND)
      return [
        ...all,
        ...more.map(([kind, count]) => `… and ${count - MOST_OF_A_KIND} more like “${kind}”.`),
      ]
    },
  }
}

/** The parts that can be away. No request needs Redis; workers may end without it. */
export type Part = 'postgres' | 'qdrant' | 'model' | 'redis' | `api-${number}`

/** When which part was away, and the time after it in which everything must have recovered. */
export interface Outages {
  /** Begins an outage of the parts; what it returns ends it. */
  begin(parts: readonly Part[]): () => void
  /**
   * Whether something that needed `parts` from `from` to `to` (ms since 1970) may have failed.
   */
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
      return (): void => {
        outage.to = Date.now() + RECOVERY_MS
      }
    },
    excuse: (parts, from, to = Date.now()) =>
      outages.some(
        outage =>
          from <= outage.to && to >= outage.from && parts.some(part => outage.parts.includes(part)),
      ),
  }
}
