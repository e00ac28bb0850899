import { mean } from '../figures.ts'

/** The overlap of two texts, by the measures of the sets and by the usual one. */

export interface Shares {
  /** Shares of the union of both texts; together 1, or all 0 when both are empty. */
  both: number
  onlyFound: number
  onlyTrue: number
}

/** Compares two texts as bags of runs of `length` words: https://github.com/scrapinghub/article-extraction-benchmark */
export function sharesOf(truth: string, found: string, length: number): Shares {
  const [expected, got] = [runsOf(truth, length), runsOf(found, length)]
  let [both, onlyFound, onlyTrue] = [0, 0, 0]
  for (const run of new Set([...expected.keys(), ...got.keys()])) {
    const [a, b] = [expected.get(run) ?? 0, got.get(run) ?? 0]
    both += Math.min(a, b)
    onlyFound += Math.max(0, b - a)
    onlyTrue += Math.max(0, a - b)
  }
  const all = both + onlyFound + onlyTrue || 1
  return { both: both / all, onlyFound: onlyFound / all, onlyTrue: onlyTrue / all }
}

/** That benchmark's F1: of the mean precision and the mean recall of all pages. */
export function meanF1(pages: Shares[]): number {
  const precision = mean(pages.filter(page => page.both + page.onlyFound > 0).map(p => p.both / (p.both + p.onlyFound)))
  const recall = mean(pages.filter(page => page.both + page.onlyTrue > 0).map(p => p.both / (p.both + p.onlyTrue)))
  return precision + recall === 0 ? 0 : (2 * precision * recall) / (precision + recall)
}

/** F1 of the words of one page, case ignored. */
export function wordF1(truth: string, found: string): number {
  const { both, onlyFound, onlyTrue } = sharesOf(truth.toLowerCase(), found.toLowerCase(), 1)
  return both === 0 ? 0 : (2 * both) / (2 * both + onlyFound + onlyTrue)
}

/** Whitespace that differs makes no difference. */
export const spaced = (text: string) => text.replace(/\s+/g, ' ').trim()

function runsOf(text: string, length: number): Map<string, number> {
  const words = text.match(/[\p{L}\p{N}\p{M}_]+/gu) ?? []
  const runs = new Map<string, number>()
  for (let at = 0; at < Math.max(1, words.length - length + 1); at += 1) {
    const run = words.slice(at, at + length).join(' ')
    if (run !== '') runs.set(run, (runs.get(run) ?? 0) + 1)
  }
  return runs
}
