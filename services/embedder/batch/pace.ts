/**
 * How many texts a model is given in one request: fewer while it is slow, so that each request ends
 * in its time.
 */
export interface Pace {
  texts(): number
  /** A request came back. */
  inTime(): void
  /** A request took too long. */
  late(): void
}

/** Requests in time, in a row, before more is tried. */
const TRUST = 20

export function createPace(most: number): Pace {
  let texts = most
  let inTime = 0
  return {
    texts: () => texts,
    inTime() {
      inTime += 1
      if (inTime < TRUST) return
      inTime = 0
      texts = Math.min(most, texts * 2)
    },
    late() {
      inTime = 0
      texts = Math.max(1, Math.floor(texts / 2))
    },
  }
}
