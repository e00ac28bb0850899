/**
 * The number of texts that a model gets in one request. A slow model gets fewer, so that each
 * request ends within its time limit.
 */
export interface Pace {
  texts(): number
  /** Notes a request that was answered in time. */
  inTime(): void
  /** Notes a request that took too long. */
  late(): void
}

/** The number of requests in time, in a row, after which the model gets more texts. */
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
