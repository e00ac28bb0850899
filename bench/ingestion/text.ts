import { type Figures, mean, rounded } from '#bench/figures'
import { SNIPPET_LENGTH } from '#search/analysis/text'
import type { ReadPage } from './truth.ts'

/**
 * Pages of html-fundus whose true text is wrong, compared with the page as readers see it. They are
 * grouped by what the true text leaves out or adds. The figures `…_judged` do not count these
 * pages.
 */
const MISJUDGED = {
  lists: [
    'de/Focus_2023_04_28',
    'de/Gamestar_2024_04_28',
    'de/RuhrNachrichten_2024_05_03',
    'de/WinFuture_2024_04_29',
  ],
  box: ['de/Hessenschau_2024_04_27'],
  note: ['uk/EveningStandard_2024_10_24'],
  quotation: ['uk/Metro_2024_07_17'],
  opening: [
    'uk/Nature_2025_11_04',
    'uk/TheIndependent_2024_11_22',
    'us/CNBC_2023_04_28',
    'us/FoxNews_2023_04_28',
  ],
}
const misjudged = new Set(Object.values(MISJUDGED).flat())

/**
 * Compares extracted texts with the texts that people marked or copied on the same pages:
 * - `text_f1_aeb`: html-aeb by its own method, over runs of four words. It is the F1 of the mean
 *   precision and the mean recall: https://github.com/scrapinghub/article-extraction-benchmark
 * - `text_f1_fundus`: html-fundus, the mean F1 of words.
 * - `snippet_fundus`: the share of pages of html-fundus whose first 200 characters are equal.
 * - `…_judged`: the same, without the pages whose true text is wrong.
 * - `text_f1_trafilatura`: html-trafilatura, F1 over pieces that belong to the text and pieces that
 *   do not.
 */
export function createTextScore(): { add(page: ReadPage): void; figures(): Figures } {
  const aeb: Overlap[] = []
  const fundus: { isJudged: boolean; f1: number; isSameStart: boolean }[] = []
  const pieces: Overlap = { both: 0, onlyFound: 0, onlyTrue: 0 }
  return {
    add({ set, file, text, found: { paragraphs } }) {
      if (text === null) return
      const found = paragraphs.join('\n\n')
      if ('with' in text) addPieces(pieces, text, spaced(found))
      else if (set === 'aeb') aeb.push(overlapOf(text.whole, found, 4))
      else {
        const isJudged = !misjudged.has(file.replace(/\.html\.gz$/, ''))
        const f1 = f1Of(overlapOf(text.whole.toLowerCase(), found.toLowerCase(), 1))
        fundus.push({ isJudged, f1, isSameStart: start(text.whole) === start(found) })
      }
    },
    figures: () => ({
      ...(aeb.length > 0 && { text_f1_aeb: rounded(meanF1(aeb), 4) }),
      ...(fundus.length > 0 && fundusFigures(fundus, '')),
      ...(fundus.length > 0 &&
        fundusFigures(
          fundus.filter(({ isJudged }) => isJudged),
          '_judged',
        )),
      ...(pieces.both > 0 && { text_f1_trafilatura: rounded(f1Of(pieces), 4) }),
    }),
  }
}

const fundusFigures = (pages: { f1: number; isSameStart: boolean }[], ending: string): Figures => ({
  [`text_f1_fundus${ending}`]: rounded(mean(pages.map(({ f1 }) => f1)), 4),
  [`snippet_fundus${ending}`]: rounded(
    mean(pages.map(({ isSameStart }) => Number(isSameStart))),
    4,
  ),
})

/**
 * How many runs of words, or pieces of text, two texts share, and how many only one of them has.
 */
interface Overlap {
  both: number
  onlyFound: number
  onlyTrue: number
}

function addPieces(
  pieces: Overlap,
  text: { with: string[]; without: string[] },
  found: string,
): void {
  const right = text.with.filter(piece => found.includes(spaced(piece))).length
  pieces.both += right
  pieces.onlyTrue += text.with.length - right
  pieces.onlyFound += text.without.filter(piece => found.includes(spaced(piece))).length
}

const f1Of = ({ both, onlyFound, onlyTrue }: Overlap) =>
  both === 0 ? 0 : (2 * both) / (2 * both + onlyFound + onlyTrue)

function meanF1(pages: Overlap[]): number {
  const precision = mean(
    pages.filter(page => page.both + page.onlyFound > 0).map(p => p.both / (p.both + p.onlyFound)),
  )
  const recall = mean(
    pages.filter(page => page.both + page.onlyTrue > 0).map(p => p.both / (p.both + p.onlyTrue)),
  )
  return precision + recall === 0 ? 0 : (2 * precision * recall) / (precision + recall)
}

/** Compares two texts by their runs of `length` words. The order of the runs does not count. */
function overlapOf(truth: string, found: string, length: number): Overlap {
  const expected = runsOf(truth, length)
  const got = runsOf(found, length)
  const overlap: Overlap = { both: 0, onlyFound: 0, onlyTrue: 0 }
  for (const run of new Set([...expected.keys(), ...got.keys()])) {
    const a = expected.get(run) ?? 0
    const b = got.get(run) ?? 0
    overlap.both += Math.min(a, b)
    overlap.onlyFound += Math.max(0, b - a)
    overlap.onlyTrue += Math.max(0, a - b)
  }
  return overlap
}

function runsOf(text: string, length: number): Map<string, number> {
  const words = text.match(/[\p{L}\p{N}\p{M}_]+/gu) ?? []
  const runs = new Map<string, number>()
  for (let at = 0; at < Math.max(1, words.length - length + 1); at += 1) {
    const run = words.slice(at, at + length).join(' ')
    if (run !== '') runs.set(run, (runs.get(run) ?? 0) + 1)
  }
  return runs
}

/** The text with single spaces, so that comparisons ignore differences in whitespace. */
const spaced = (text: string) => text.replace(/\s+/g, ' ').trim()

/** The first characters of a text, as many as a snippet has. */
const start = (text: string) => [...spaced(text)].slice(0, SNIPPET_LENGTH).join('').trimEnd()
