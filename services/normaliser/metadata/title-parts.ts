import { fold } from '../markup/plain.ts'

/** Everything on a page that tells a headline from what templates put around it. */
export interface TitleContext {
  /** Folded names of the outlet. */
  own: ReadonlySet<string>
  /**
   * The outlet's domains without their suffixes, folded, in one word. They may be words of a
   * headline too, so they count only behind it.
   */
  labels: ReadonlySet<string>
  /** Folded names of the sections in which the page stands. */
  sections: ReadonlySet<string>
  /** Folded titles of the page's other sources. */
  titles: ReadonlySet<string>
}

const SEPARATOR = /\s+[-–—|·•:»›«‹~⋆∙/]{1,2}\s+|\s*\|\s*/gu
/** Separators of a title that are looked at. Templates add fewer parts. */
const SEPARATORS = 12

/** A place where a title may be cut. */
interface Cut {
  at: number
  end: number
  bar: boolean
}

/**
 * Removes what templates put before and behind a headline: the outlet's name, a section, a kicker.
 * "Brug dicht - Binnenland | De Dagkoerier" becomes "Brug dicht". Dashes inside a headline stay.
 */
export function withoutTemplate(text: string, context: TitleContext): string {
  return partOfOtherTitle(withoutNames(text.trim(), context), context)
}

function withoutNames(text: string, context: TitleContext): string {
  const cuts = cutsOf(text)
  // The name of a site may hold a separator itself, so the longest ending counts.
  const named = cuts.find(cut => isOwnEnding(text.slice(cut.end), context) || isOwnEdition(text, cut, context.own))
  if (named !== undefined) return withoutSection(text.slice(0, named.at), named, context)
  const [first] = cuts
  if (first !== undefined && isOwn(text.slice(0, first.at), context.own)) return text.slice(first.end).trim()
  return withoutSection(text, null, context)
}

/** Fewest words of a headline that a section follows behind a dash. */
const SECTIONED_WORDS = 3

/**
 * Removes a section at the end.
 *
 * @param name where the outlet's name was cut off, null without one
 */
function withoutSection(text: string, name: Cut | null, { sections }: TitleContext): string {
  const last = cutsOf(text).at(-1)
  if (last === undefined) return text.trim()
  const ending = text.slice(last.end)
  // A single word between two bars, before the outlet's name, is the section.
  const between = name?.bar === true && last.bar && /^\S+$/.test(ending)
  const rest = text.slice(0, last.at).trim()
  // Behind a dash it may be a part of a short headline: "Duitsland – Nederland".
  const certain = last.bar || rest.split(/\s+/).length >= SECTIONED_WORDS
  return between || (certain && sections.has(fold(ending))) ? rest : text.trim()
}

/**
 * The part of a title that is the whole title of another source: the rest is a kicker, or the name
 * of a section.
 */
function partOfOtherTitle(text: string, { titles }: TitleContext): string {
  const isTitle = (part: string) => /\s/.test(part) && titles.has(fold(part))
  for (const { at, end } of cutsOf(text)) {
    const [before, behind] = [text.slice(0, at), text.slice(end)]
    if (isTitle(behind)) return behind.trim()
    if (isTitle(before)) return before.trim()
  }
  return text
}

function isOwnEnding(text: string, { own, labels }: TitleContext): boolean {
  return isOwn(text, own) || isOwn(text, labels)
}

const EDITION_WORDS = 4

/** Whether a title ends with the name of a part of the outlet, behind a bar: `| NOS Sport`. */
function isOwnEdition(text: string, cut: Cut, own: ReadonlySet<string>): boolean {
  const words = fold(text.slice(cut.end)).split(' ')
  if (!cut.bar || words.length < 2 || words.length > EDITION_WORDS) return false
  return own.has(words[0] ?? '') || own.has(words.at(-1) ?? '')
}

function cutsOf(text: string): Cut[] {
  return [...text.matchAll(SEPARATOR)]
    .slice(0, SEPARATORS)
    .map(({ index, 0: found }) => ({ at: index, end: index + found.length, bar: found.includes('|') }))
    .filter(({ at, end }) => at > 0 && end < text.length)
}

/** Whether a text is a name of the outlet, written in one word or several. */
export function isOwn(text: string, own: ReadonlySet<string>): boolean {
  const folded = fold(text)
  return own.has(folded) || own.has(folded.replaceAll(' ', ''))
}
