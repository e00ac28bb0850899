import { decodeHTML } from 'entities'
import { getDomainWithoutSuffix } from 'tldts'
import { bestOf, type Candidate, type Choice, choiceOf } from '#services/normaliser/candidate'
import { anyOf } from '#services/normaliser/languages/index'
import { fold, foldedNames, lineOf, oneLine } from '#services/normaliser/markup/plain'
import { PAGE_LIMITS } from '#shared/articles/plain-text'
import type { Outlet } from '#shared/outlets/catalogue'
import type { Source } from '#shared/outlets/origins'
import type { FeedEntry } from '#shared/outlets/page'
import type { PageMetadata } from './metadata.ts'

/**
 * The headline without the outlet's name, whitespace collapsed, entities decoded once. Null without
 * a headline. The sources are tried in this order: JSON-LD, the headline on the page, Open Graph,
 * the feed, the document's title. The order comes from 318 pages whose titles people wrote down:
 * the source that agreed most often comes first. There are two exceptions. A headline that no other
 * source repeats is tried last. If the title in JSON-LD is written for search engines, the headline
 * is tried first. When two sources give the same title, the better form wins.
 */
export function titleChoice(
  meta: PageMetadata,
  entry: FeedEntry | null,
  outlet: Pick<Outlet, 'name' | 'domain'>,
): Choice<string> | null {
  const candidates = titleCandidates(meta, entry, outlet)
  const best = bestOf(candidates)
  return best === null ? null : choiceOf(best, candidates, (a, b) => fold(a) === fold(b))
}

/** All titles, in order of rank, without the outlet's name. */
export function titleCandidates(
  meta: PageMetadata,
  entry: FeedEntry | null,
  outlet: Pick<Outlet, 'name' | 'domain'>,
): Candidate<string>[] {
  const { structured, social, headline, document } = meta.titles
  const { name, domain } = outlet
  const own = foldedNames([name, domain, `www.${domain}`, meta.host, ...meta.siteNames])
  const fed = entry?.title ? oneLine(entry.title) : null
  const stated: Title = { source: 'json-ld', text: structured }
  const shown: Title = { source: 'markup', text: headline }
  const rest: Title[] = [
    { source: 'meta', text: social },
    { source: 'feed', text: fed },
    { source: 'document', text: document },
  ]
  const labels = labelsOf(meta, outlet)
  const sections = sectionsOf(meta)
  const clean = (title: string | null, titles: ReadonlySet<string> = NONE) =>
    title === null ? '' : withoutTemplate(title, { own, labels, sections, titles })
  const usual = repeats(headline, [structured, social, fed, document], own)
    ? [stated, shown, ...rest]
    : [stated, ...rest, shown]
  const order = isForSearch(structured, meta, clean) ? [shown, stated, ...rest] : usual
  const ranked = order.flatMap(({ source, text }) => {
    if (text === null) return []
    const value = clean(
      unescaped(text),
      titlesBeside(text, [structured, headline, social, fed, document], clean),
    )
    return [{ source, value, against: againstTitle(value, own) }]
  })
  return withBetterForm(ranked)
}

interface Title {
  source: Source
  text: string | null
}

function againstTitle(title: string, own: ReadonlySet<string>): string | null {
  if (title === '') return 'empty'
  // A longer text is a paragraph in the place of a title.
  if (title.length > PAGE_LIMITS.title) return `longer than ${PAGE_LIMITS.title} characters`
  return isOwn(title, own) ? "the site's own name" : null
}

/**
 * Whether a title has at least half of the headline's words. A headline that no title repeats may
 * be the name of the site or of a section.
 */
function repeats(
  headline: string | null,
  titles: (string | null)[],
  own: ReadonlySet<string>,
): boolean {
  const words = fold(headline ?? '').split(' ')
  return titles.some(title => {
    if (title === null || isOwn(title, own)) return false
    const said = new Set(fold(title).split(' '))
    return words.filter(word => said.has(word)).length * 2 >= words.length
  })
}

/**
 * The outlet's domains without their suffixes, in one word: `dagkoerier` of
 * `www.dag-koerier.example`.
 */
function labelsOf(meta: PageMetadata, outlet: Pick<Outlet, 'domain'>): Set<string> {
  const labels = [outlet.domain, meta.url].map(of =>
    getDomainWithoutSuffix(of, { allowPrivateDomains: true }),
  )
  return new Set(
    labels.map(label => fold(label ?? '').replaceAll(' ', '')).filter(label => label !== ''),
  )
}

/**
 * Decodes character references that a system has escaped twice. References to `&`, `<` and `>`
 * stay, because headlines about HTML contain them.
 */
const unescaped = (title: string) =>
  title.replace(/&(?!amp;|lt;|gt;)#?\w{1,10};/g, reference => lineOf(decodeHTML(reference)))

const NONE: ReadonlySet<string> = new Set()

/** The other titles of a page, folded. */
function titlesBeside(
  candidate: string | null,
  titles: (string | null)[],
  clean: (title: string | null) => string,
) {
  const own = fold(clean(candidate))
  return new Set(
    titles.map(title => fold(clean(title))).filter(title => title !== '' && title !== own),
  )
}

/**
 * Whether JSON-LD gives a title for search engines: it equals the document's title, while the page
 * and Open Graph have another one.
 */
function isForSearch(
  structured: string | null,
  { titles: { headline, social, document } }: PageMetadata,
  clean: (title: string | null) => string,
): boolean {
  const stated = fold(clean(structured))
  const shown = fold(clean(headline))
  if (stated === '' || shown === '' || stated === shown) return false
  return fold(clean(document)) === stated && fold(clean(social)) === shown
}

/** The most segments of an address that are examined. */
const SEGMENTS = 10

/** The folded names of the page's sections, from its address. */
function sectionsOf(meta: PageMetadata): ReadonlySet<string> {
  const segments = meta.path.split('/').slice(1, -1).slice(0, SEGMENTS)
  return new Set(segments.map(fold).filter(name => /\p{L}{3}/u.test(name)))
}

type TitleCandidate = Candidate<string>

/**
 * Puts another source's title first when it is the same title in a better form: uncut, without a
 * kicker, or with the separators that most sources have.
 */
function withBetterForm(candidates: TitleCandidate[]): TitleCandidate[] {
  const usable = candidates.filter(({ against }) => against === null)
  const [first] = usable
  if (first === undefined) return candidates
  const better = bestSpelled(withoutKicker(uncut(first, usable), usable), usable)
  return better === first
    ? candidates
    : [better, ...candidates.filter(candidate => candidate !== better)]
}

/** The end of a title that a system has cut. */
const CUT = new RegExp(
  String.raw`\s*[([]?(?:…|\.{2,4})[)\]]?\s*(?:${anyOf(rules => rules.text.readMore)})?\s*$`,
  'iu',
)
/**
 * Characters. Search engines show little more of a title, so some systems cut titles near this
 * length without a sign.
 */
const LONG_TITLE = 60
/**
 * The most characters that a guideline of Google allows a headline. Systems cut headlines before
 * the word that exceeds this number.
 */
const SEARCH_LIMIT = 110

/**
 * Finds the whole title in another source, if a system has cut the first title. Otherwise returns
 * the first title.
 */
function uncut(first: TitleCandidate, titles: TitleCandidate[]): TitleCandidate {
  const marked = CUT.test(first.value)
  if (!marked && first.value.length < LONG_TITLE) return first
  const beginning = fold(first.value.replace(CUT, ''))
  const goesOn = ({ value }: TitleCandidate) => {
    const whole = fold(value)
    if (CUT.test(value) || whole.length <= beginning.length || !whole.startsWith(beginning))
      return false
    // Some systems cut without a sign. Such a cut is certain only within a word or just before the
    // limit.
    const next = value.indexOf(' ', first.value.length + 1)
    const isAtLimit =
      first.value.length <= SEARCH_LIMIT && (next < 0 ? value.length : next) > SEARCH_LIMIT
    return marked || isAtLimit || /\S/.test(whole.charAt(beginning.length))
  }
  return titles.find(goesOn) ?? first
}

/** Fewest words of a title with which another title may end. Fewer may be a part of a headline. */
const TITLE_WORDS = 3

/**
 * Finds the title of another source with which this title ends, when no other source repeats this
 * title. The words before it are a kicker, even without a separator. A kicker is not longer than
 * its headline.
 */
function withoutKicker(first: TitleCandidate, titles: TitleCandidate[]): TitleCandidate {
  const text = fold(first.value)
  if (titles.some(title => title !== first && fold(title.value) === text)) return first
  const isHeadline = (title: TitleCandidate) => {
    const headline = fold(title.value)
    const words = headline.split(' ').length
    return (
      words >= TITLE_WORDS && text.endsWith(` ${headline}`) && text.split(' ').length <= words * 2
    )
  }
  return titles.find(isHeadline) ?? first
}

/**
 * Of several titles with the same words, chooses the one whose separators most sources have. The
 * heading of a page often has none, because its kicker is an element of its own. For the
 * comparison, a dash counts as a hyphen, which some systems write instead. The result has the dash
 * if a source has it.
 */
function bestSpelled(first: TitleCandidate, titles: TitleCandidate[]): TitleCandidate {
  const same = titles.filter(({ value }) => bare(value) === bare(first.value))
  const votes = (title: TitleCandidate) =>
    new Set(
      same
        .filter(({ value }) => hyphened(value) === hyphened(title.value))
        .map(({ source }) => source),
    ).size
  const most = same.reduce((best, title) => (votes(title) > votes(best) ? title : best), first)
  return same
    .filter(({ value }) => hyphened(value) === hyphened(most.value))
    .reduce((best, title) => (dashes(title) > dashes(best) ? title : best), most)
}

const dashes = ({ value }: TitleCandidate) => value.match(/[–—]/g)?.length ?? 0
const hyphened = (title: string) => title.replace(/[–—]/g, '-').replace(/\p{Quotation_Mark}/gu, '"')
/** A title without its separators, otherwise unchanged. */
const bare = (title: string) => hyphened(title).replace(/\s*[-:|·]\s+/g, ' ')

/** The parts of a page that distinguish a headline from the text that templates add. */
interface TitleContext {
  /** Folded names of the outlet. */
  own: ReadonlySet<string>
  /**
   * The outlet's domains without their suffixes, folded, in one word. They may also be words of a
   * headline, so they count only after the headline.
   */
  labels: ReadonlySet<string>
  /** Folded names of the page's sections. */
  sections: ReadonlySet<string>
  /** Folded titles of the page's other sources. */
  titles: ReadonlySet<string>
}

/**
 * The separator of a headline from other parts: a sign between spaces that is no part of a
 * sentence, a bar, or a dash with one space.
 */
const SEPARATOR =
  /\s+(?:[«»‹›]|[^\p{L}\p{N}\s\p{Quotation_Mark}&+%,.!?…()[\]]){1,3}\s+|\s*\|\s*|\s[-–—](?=\S)|(?<=\S)[-–—]\s/gu
/** The most separators of a title that are examined. Templates add fewer parts. */
const SEPARATORS = 12

/** A place where a title may be cut. */
interface Cut {
  at: number
  end: number
  bar: boolean
}

/**
 * Removes the parts that templates add before and after a headline: the outlet's name, a section, a
 * kicker. "Brug dicht - Binnenland | De Dagkoerier" becomes "Brug dicht". Dashes inside a headline
 * stay.
 */
const withoutTemplate = (text: string, context: TitleContext): string =>
  partOfOtherTitle(withoutNames(text.trim(), context), context)

function withoutNames(text: string, context: TitleContext): string {
  const cuts = cutsOf(text)
  // The name of a site may itself contain a separator, so the longest ending counts.
  const named = cuts.find(
    cut => isOwnEnding(text.slice(cut.end), context) || isOwnEdition(text, cut, context.own),
  )
  if (named !== undefined) return withoutSection(text.slice(0, named.at), named, context)
  const [, before, inBrackets = ''] = /^(.+\S)\s*[([]([^()[\]]+)[)\]]$/u.exec(text) ?? []
  if (before !== undefined && isOwn(inBrackets, context.own))
    return withoutSection(before, null, context)
  const [first] = cuts
  if (first !== undefined && isOwn(text.slice(0, first.at), context.own))
    return text.slice(first.end).trim()
  return withoutSection(text, null, context)
}

/**
 * After a dash, an ending is a section only if the headline before it has at least this many words.
 */
const SECTIONED_WORDS = 3

/**
 * Removes a section at the end.
 *
 * @param name the place where the outlet's name was cut off; null without one
 */
function withoutSection(text: string, name: Cut | null, context: TitleContext): string {
  const last = cutsOf(text).at(-1)
  if (last === undefined) return text.trim()
  const ending = text.slice(last.end)
  // A single word between two bars, before the outlet's name, is the section.
  const between = name?.bar === true && last.bar && /^\S+$/.test(ending)
  const rest = text.slice(0, last.at).trim()
  // After a dash, the ending may be a part of a short headline: "Duitsland – Nederland".
  const certain = last.bar || rest.split(/\s+/).length >= SECTIONED_WORDS
  if (between)
    return rest.split(/\s+/).length > SECTIONED_WORDS ? withoutSection(rest, last, context) : rest
  return certain && context.sections.has(fold(ending)) ? rest : text.trim()
}

/**
 * When a part of the title is the whole title of another source, returns that part. The other words
 * are a kicker, or the name of a section.
 */
function partOfOtherTitle(text: string, { titles }: TitleContext): string {
  const isTitle = (part: string) => /\s/.test(part) && titles.has(fold(part))
  for (const { at, end } of cutsOf(text)) {
    const before = text.slice(0, at)
    const after = text.slice(end)
    if (isTitle(after)) return after.trim()
    if (isTitle(before)) return before.trim()
  }
  return text
}

const isOwnEnding = (text: string, { own, labels }: TitleContext): boolean =>
  isOwn(text, own) || isOwn(text, labels)

const EDITION_WORDS = 4

/**
 * Whether a title ends with the name of a branch of the outlet, or with its name and a motto, after
 * a bar: `| NOS Sport`, `| De Dagkoerier: nieuws uit Temse`.
 */
function isOwnEdition(text: string, cut: Cut, own: ReadonlySet<string>): boolean {
  const words = fold(text.slice(cut.end)).split(' ')
  if (cut.bar && isOwn(text.slice(cut.end).split(/[:,]\s|\s[-–—]\s/u, 1)[0] ?? '', own)) return true
  if (!cut.bar || words.length < 2 || words.length > EDITION_WORDS) return false
  return own.has(words[0] ?? '') || own.has(words.at(-1) ?? '')
}

const cutsOf = (text: string): Cut[] =>
  [...text.matchAll(SEPARATOR)]
    .slice(0, SEPARATORS)
    .map(({ index, 0: found }) => ({
      at: index,
      end: index + found.length,
      bar: /[|›»•·/]/.test(found),
    }))
    .filter(({ at, end }) => at > 0 && end < text.length)

/** Whether a text is a name of the outlet, in one word or several. */
function isOwn(text: string, own: ReadonlySet<string>): boolean {
  const folded = fold(text)
  return own.has(folded) || own.has(folded.replaceAll(' ', ''))
}
