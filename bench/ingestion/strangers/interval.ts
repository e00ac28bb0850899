import { FOLDS, OPEN_FOLD } from './publisher.ts'

/**
 * One page's part of a figure. The figure of several pages is the sum of `right` by that of `of`.
 */
export interface Tally {
  publisher: string
  fold: number
  right: number
  of: number
}

/** A figure in percent, with its 95 % confidence interval; null without pages. */
export interface Estimate {
  value: number
  low: number
  high: number
}

/** A figure side by side: on the open fold, on each fold, on the others. */
export interface FoldedFigure {
  open: Estimate | null
  unseen: Estimate | null
  folds: (Estimate | null)[]
  /** Pages and publishers of the unseen folds. */
  pages: number
  publishers: number
}

export function foldedFigure(tallies: Tally[]): FoldedFigure {
  const unseen = tallies.filter(tally => tally.fold !== OPEN_FOLD)
  return {
    open: estimate(tallies.filter(tally => tally.fold === OPEN_FOLD)),
    unseen: estimate(unseen),
    folds: Array.from({ length: FOLDS }, (_, fold) => estimate(tallies.filter(tally => tally.fold === fold))),
    pages: unseen.filter(tally => tally.of > 0).length,
    publishers: new Set(unseen.map(tally => tally.publisher)).size,
  }
}

/** Bootstrap samples: enough for the second digit of the ends of an interval. */
const SAMPLES = 1_000

/**
 * A figure and its percentile bootstrap interval. Publishers are drawn, not pages, because the
 * pages of one publisher are right or wrong together.
 */
export function estimate(tallies: Tally[]): Estimate | null {
  const sums = [...Map.groupBy(tallies, tally => tally.publisher).values()].map(sumOf)
  const value = share(sumOf(sums))
  if (value === null) return null
  const random = generator()
  const drawn: number[] = []
  for (let n = 0; n < SAMPLES; n += 1) {
    const sample = sums.map(() => sums[Math.floor(random() * sums.length)] ?? { right: 0, of: 0 })
    const figure = share(sumOf(sample))
    if (figure !== null) drawn.push(figure)
  }
  drawn.sort((a, b) => a - b)
  const at = (part: number) => drawn[Math.min(drawn.length - 1, Math.floor(part * drawn.length))] ?? value
  return { value, low: at(0.025), high: at(0.975) }
}

type Sum = Pick<Tally, 'right' | 'of'>

function sumOf(tallies: Sum[]): Sum {
  return tallies.reduce((sum, { right, of }) => ({ right: sum.right + right, of: sum.of + of }), { right: 0, of: 0 })
}

function share({ right, of }: Sum): number | null {
  return of === 0 ? null : Math.round((right / of) * 1_000) / 10
}

/** Numbers from 0 to 1, the same in every run (Mulberry32). */
function generator(): () => number {
  let state = 20_261_123
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
