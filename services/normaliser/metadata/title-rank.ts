import type { Candidate } from '../candidates/candidate.ts'

type Title = Candidate<string>

/**
 * Puts another source's title first where that one says the same as the first, better: with the
 * separators that most sources have.
 */
export function withBetterForm(candidates: Title[]): Title[] {
  const usable = candidates.filter(({ against }) => against === null)
  const [first] = usable
  if (first === undefined) return candidates
  const better = bestSpelled(first, usable)
  return better === first ? candidates : [better, ...candidates.filter(candidate => candidate !== better)]
}

/**
 * Of titles with the same words, the one whose separators most sources have. The heading of a page
 * often has none, because its kicker is an element of its own. A dash counts as a hyphen, which
 * systems write in its place, and is taken where a source has it.
 */
function bestSpelled(first: Title, titles: Title[]): Title {
  const same = titles.filter(({ value }) => bare(value) === bare(first.value))
  const votes = (title: Title) =>
    new Set(same.filter(({ value }) => hyphened(value) === hyphened(title.value)).map(({ source }) => source)).size
  const most = same.reduce((best, title) => (votes(title) > votes(best) ? title : best), first)
  return same
    .filter(({ value }) => hyphened(value) === hyphened(most.value))
    .reduce((best, title) => (dashes(title) > dashes(best) ? title : best), most)
}

const dashes = ({ value }: Title) => value.match(/[–—]/g)?.length ?? 0
const hyphened = (title: string) => title.replace(/[–—]/g, '-').replace(/\p{Quotation_Mark}/gu, '"')
/** A title without its separators, all else as written. */
const bare = (title: string) => hyphened(title).replace(/\s*[-:|·]\s+/g, ' ')
