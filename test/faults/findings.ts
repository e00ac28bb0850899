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
      return [...all, ...more.map(([kind, count]) => `… and ${count - MOST_OF_A_KIND} more like “${kind}”.`)]
    },
  }
}
