import { aebPages } from '../text.ts'
import { type TruePage, truePages } from '../truth.ts'
import { type Estimate, type FoldedFigure, foldedFigure, type Tally } from './interval.ts'
import { judge } from './judge.ts'
import { foldOf, OPEN_FOLD, publisherOf } from './publisher.ts'
import { PUBLIC_SETS, publicPages } from './sets/sets.ts'

/** The options of the bench that concern folds. */
export interface FoldOptions {
  data: string
  /** The folder of the public sets. */
  sets: string
  /** Prints what was missed of this fold; null: nothing. */
  misses: number | null
  signal: AbortSignal
}

/**
 * The figures of pages by folds of publishers: the open fold, on which rules are made, and the
 * others, on which they are judged. Figures are percent. Prints all folds to standard error.
 */
export async function measureFolds(options: FoldOptions): Promise<Record<string, number>> {
  const figures: Record<string, number> = {}
  for (const { name, pages, secret } of setsOf(options)) {
    const tallies = new Map<string, Tally[]>()
    for await (const page of pages) {
      if (options.signal.aborted) return figures
      const publisher = publisherOf(page.url)
      const fold = foldOf(publisher)
      for (const { figure, right, of, miss } of judge(page)) {
        const known = tallies.get(figure) ?? []
        known.push({ publisher, fold, right, of })
        tallies.set(figure, known)
        if (miss !== null && fold === options.misses && !secret)
          process.stderr.write(`  missed ${name} ${figure} ${page.file} ${page.url}: ${miss}\n`)
      }
    }
    for (const [figure, known] of tallies) {
      const folded = foldedFigure(known)
      process.stderr.write(`${lineOf(`${name} ${figure}`, folded)}\n`)
      Object.assign(figures, namedFigures(`folds_${name}_${figure}`, folded))
    }
  }
  return figures
}

interface MeasuredSet {
  name: string
  pages: AsyncGenerator<TruePage>
  /** Its misses are never printed. */
  secret: boolean
}

function setsOf({ data, sets }: FoldOptions): MeasuredSet[] {
  const kept = (['fundus', 'trafilatura', 'htmldate'] as const).map(name => ({
    name,
    pages: truePages(data, name),
    secret: false,
  }))
  return [
    ...kept,
    { name: 'aeb', pages: aebPages(data), secret: false },
    ...PUBLIC_SETS.map(set => ({ name: set.name, pages: publicPages(sets, set), secret: set.scoredOnly })),
  ]
}

/**
 * One line: the open fold, the unseen ones with their interval, each fold, pages and publishers.
 */
function lineOf(figure: string, { open, unseen, folds, pages, publishers }: FoldedFigure): string {
  const shown = (estimate: Estimate | null) => (estimate === null ? '–' : estimate.value.toFixed(1))
  const interval = unseen === null ? '' : ` (${unseen.low.toFixed(1)} to ${unseen.high.toFixed(1)})`
  const each = folds.map((fold, n) => (n === OPEN_FOLD ? '' : shown(fold))).filter(text => text !== '')
  return `  ${figure.padEnd(30)} open ${shown(open).padStart(5)} | unseen ${shown(unseen).padStart(5)}${interval.padEnd(17)} folds ${each.join(' ')}, ${pages} pages of ${publishers}`
}

function namedFigures(name: string, { open, unseen }: FoldedFigure): Record<string, number> {
  return {
    ...(open === null ? {} : { [`${name}_open`]: open.value }),
    ...(unseen === null
      ? {}
      : { [`${name}_unseen`]: unseen.value, [`${name}_unseen_low`]: unseen.low, [`${name}_unseen_high`]: unseen.high }),
  }
}
