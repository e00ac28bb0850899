import { getDomainWithoutSuffix } from 'tldts'
import type { Outlet } from '../../../shared/outlets/catalogue.ts'
import type { Source } from '../../../shared/outlets/origins.ts'
import type { FeedEntry } from '../../../shared/outlets/page.ts'
import { bestOf, type Candidate, type Choice, choiceOf } from '../candidates/candidate.ts'
import { fold } from './fold.ts'
import type { PageMetadata } from './metadata.ts'
import { oneLine } from './plain.ts'
import { isOwn, withoutTemplate } from './title-parts.ts'
import { withBetterForm } from './title-rank.ts'

/** In characters. A longer text is a paragraph in the place of a title. */
const TITLE_LIMIT = 500

/**
 * The headline without the outlet's name, whitespace collapsed, entities decoded once. Null without
 * one. The sources are tried in this order: JSON-LD, the headline on the page, Open Graph, the
 * feed, the document's title. The order is that of their agreement with the titles that people gave
 * 318 pages. A headline that no other source repeats is tried last, and one that JSON-LD replaces
 * for search engines first. Where two sources say the same, the better form of the two wins.
 */
export function chooseTitle(
  meta: PageMetadata,
  entry: FeedEntry | null,
  outlet: Pick<Outlet, 'name' | 'domain'>,
): string | null {
  return bestOf(titleCandidates(meta, entry, outlet))?.value ?? null
}

/** The same title with its origin. */
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
  const own = ownNames(meta, outlet)
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
    const value = clean(text, titlesBeside(text, [structured, headline, social, fed, document], clean))
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
  if (title.length > TITLE_LIMIT) return `longer than ${TITLE_LIMIT} characters`
  return isOwn(title, own) ? "the site's own name" : null
}

/**
 * Whether a title has at least half of the headline's words. Other headlines may be the name of the
 * site or of a section.
 */
function repeats(headline: string | null, titles: (string | null)[], own: ReadonlySet<string>): boolean {
  const words = fold(headline ?? '').split(' ')
  return titles.some(title => {
    if (title === null || isOwn(title, own)) return false
    const said = new Set(fold(title).split(' '))
    return words.filter(word => said.has(word)).length * 2 >= words.length
  })
}

function ownNames(meta: PageMetadata, outlet: Pick<Outlet, 'name' | 'domain'>): Set<string> {
  const host = (URL.parse(meta.url)?.hostname ?? '').replace(/^www\./, '')
  const names = [outlet.name, outlet.domain, `www.${outlet.domain}`, host, ...meta.siteNames].map(fold)
  return new Set([...names, ...names.map(name => name.replaceAll(' ', ''))].filter(name => name !== ''))
}

/** `dagkoerier` of `www.dag-koerier.example`. */
function labelsOf(meta: PageMetadata, outlet: Pick<Outlet, 'domain'>): Set<string> {
  const labels = [outlet.domain, meta.url].map(of => getDomainWithoutSuffix(of, { allowPrivateDomains: true }))
  return new Set(labels.map(label => fold(label ?? '').replaceAll(' ', '')).filter(label => label !== ''))
}

const NONE: ReadonlySet<string> = new Set()

/** The other titles of a page, folded. */
function titlesBeside(
  candidate: string | null,
  titles: (string | null)[],
  clean: (title: string | null) => string,
): ReadonlySet<string> {
  const own = fold(clean(candidate))
  return new Set(titles.map(title => fold(clean(title))).filter(title => title !== '' && title !== own))
}

/**
 * Whether JSON-LD gives the title for search engines: that of the document, while the page and Open
 * Graph show readers another one.
 */
function isForSearch(
  structured: string | null,
  { titles: { headline, social, document } }: PageMetadata,
  clean: (title: string | null) => string,
): boolean {
  const [stated, shown] = [fold(clean(structured)), fold(clean(headline))]
  if (stated === '' || shown === '' || stated === shown) return false
  return fold(clean(document)) === stated && fold(clean(social)) === shown
}

/** Segments of an address that are looked at. */
const SEGMENTS = 10

/** The folded names of the page's sections, as its address gives them. */
function sectionsOf(meta: PageMetadata): ReadonlySet<string> {
  const segments = (URL.parse(meta.url)?.pathname ?? '').split('/').slice(1, -1).slice(0, SEGMENTS)
  return new Set(segments.map(fold).filter(name => /\p{L}{3}/u.test(name)))
}
