import type { Candidate } from '../candidates/candidate.ts'
import { fold } from './fold.ts'

type Title = Candidate<string>

/**
 * Puts another source's title first where that one says the same as the first, better: without a
 * kicker, or with the separators that most sources have.
 */
export function withBetterForm(candidates: Title[]): Title[] {
  const usable = candidates.filter(({ against }) => against === null)
  const [first] = usable
  if (first === undefined) return candidates
  const better = bestSpelled(withoutKicker(uncut(first, usable), usable), usable)
  return better === first ? candidates : [better, ...candidates.filter(candidate => candidate !== better)]
}

/** How a title ends that a system cut. */
const CUT = /\s*(?:…|\.{3})\s*$/u
/** Characters of a title near the limits that search engines set, at which some systems cut without a sign. */
const LONG_TITLE = 60

/** The whole title of another source, where the first one is its beginning: cut for search engines. */
function uncut(first: Title, titles: Title[]): Title {
  const marked = CUT.test(first.value)
  if (!marked && first.value.length < LONG_TITLE) return first
  const beginning = fold(first.value.replace(CUT, ''))
  const goesOn = ({ value }: Title) => {
    const whole = fold(value)
    if (CUT.test(value) || whole.length <= beginning.length || !whole.startsWith(beginning)) return false
    // Without a sign, only a cut within a word is known to be one.
    return marked || /\S/.test(whole.charAt(beginning.length))
  }
  return titles.find(goesOn) ?? first
}

/** Fewest words of a title that another one may end with. Fewer may be a part of a headline. */
const TITLE_WORDS = 3

/**
 * The whole title of another source, at the end of a title that no source repeats: the rest is a
 * kicker, also without a separator. A kicker is not longer than its headline.
 */
function withoutKicker(first: Title, titles: Title[]): Title {
  const text = fold(first.value)
  if (titles.some(title => title !== first && fold(title.value) === text)) return first
  const isHeadline = (title: Title) => {
    const headline = fold(title.value)
    const words = headline.split(' ').length
    return words >= TITLE_WORDS && text.endsWith(` ${headline}`) && text.split(' ').length <= words * 2
  }
  return titles.find(isHeadline) ?? first
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
