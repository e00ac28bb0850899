import { fold } from './fold.ts'
import type { Outline } from './outline.ts'

/**
 * The index of the line that is the article's headline on the page, or null. Sites put their own
 * name, or another article's title, into an `h1`. Therefore the line that covers most of the page's
 * title wins over the first `h1`.
 */
export function headlineLine(outline: Outline, titles: (string | null)[]): number | null {
  const known = titles.flatMap(title => (title === null ? [] : [fold(title)])).filter(title => title.length > 3)
  let best: { index: number; score: number } | null = null
  for (const [index, line] of outline.lines.entries()) {
    const text = fold(line.text)
    if (text.length < 4) continue
    const covered = Math.max(0, ...known.map(title => coverage(title, text)))
    const place = (line.heading === 1 ? 4 : line.heading > 1 ? 2 : 0) + (line.aside === null ? 2 : 0)
    const score = covered * 8 + place
    const least = line.heading === 1 ? 4 : line.heading > 1 ? 6 : 8
    if (score >= least && (best === null || score > best.score)) best = { index, score }
  }
  return best?.index ?? null
}

/** Fewer words than this may name a section: `/nieuws/lokaal`. */
const TITLE_WORDS = 4

/**
 * The title in an address such as `/2026/11/brug-over-de-maas-dicht-12345.html`, for pages that do
 * not state it.
 */
export function titleInAddress(url: string): string | null {
  const last =
    URL.parse(url)
      ?.pathname.split('/')
      .findLast(part => part !== '') ?? ''
  const words = fold(last.replace(/\.\w{2,5}$/, '').replace(/[-_]\d+$|^\d+[-_]/g, ''))
  return words.split(' ').length < TITLE_WORDS ? null : words
}

/**
 * Whether an element of `outline.asides` is beside the article. An element around the article's
 * headline is not.
 */
export function isAside(
  outline: Pick<Outline, 'asides' | 'lines'>,
  line: number | null,
  aside: number | null,
): boolean {
  if (aside === null) return false
  let around = line === null ? null : (outline.lines[line]?.aside ?? null)
  while (around !== null && around !== aside) around = outline.asides[around] ?? null
  return around !== aside
}

/**
 * The share of the title that the line covers. One of the two may contain the other with a kicker
 * or the site's name.
 */
function coverage(title: string, text: string): number {
  if (title === text) return 1
  if (text.length < 10 || title.length < 10) return 0
  if (title.includes(text)) return text.length / title.length
  return text.includes(title) ? title.length / text.length : 0
}
