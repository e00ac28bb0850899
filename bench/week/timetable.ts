import { createRandom } from '../../test/faults/random.ts'

/** Share of a day's articles by hour: little at night, most in the morning. */
const BY_HOUR = [6, 4, 3, 3, 5, 12, 28, 42, 54, 60, 62, 62, 58, 55, 56, 58, 60, 58, 50, 44, 38, 30, 20, 12]
const HOUR_MS = 3_600_000
const DAYS_OF_WEEK = 7

/** An article that is to come: when, in ms since the beginning of the week, and at which outlet. */
export interface Entry {
  at: number
  outlet: number
}

/** When each article of a week is published, ascending: by the hours of a day, and by chance. */
export function makeTimetable(perDay: number, outlets: number): Entry[] {
  const random = createRandom(1, 'week')
  const hours = running(BY_HOUR)
  // The outlet with number n has about n times fewer articles than the first.
  const diligence = running(Array.from({ length: outlets }, (_, number) => 1 / (number + 8)))
  const entries: Entry[] = []
  for (let day = 0; day < DAYS_OF_WEEK; day++) {
    for (let n = 0; n < perDay; n++) {
      const hour = day * 24 + drawn(hours, random.next()) + random.next()
      entries.push({ at: hour * HOUR_MS, outlet: drawn(diligence, random.next()) })
    }
  }
  return entries.sort((a, b) => a.at - b.at)
}

function running(weights: number[]): number[] {
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  let sum = 0
  return weights.map(weight => {
    sum += weight
    return sum / total
  })
}

/** The first place whose running share is above the chance. */
const drawn = (shares: number[], chance: number) =>
  Math.min(
    shares.length - 1,
    shares.findIndex(share => chance < share),
  )
