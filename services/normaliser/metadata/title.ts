import type { Source } from '../../../shared/origins/origins.ts'
import type { Outlet } from '../../../shared/outlets/outlet.ts'
import type { FeedEntry } from '../../../shared/pages/page.ts'
import { bestOf, type Candidate, type Choice, choiceOf } from '../candidates/candidate.ts'
import { fold } from './fold.ts'
import type { PageMetadata } from './metadata.ts'
import { oneLine } from './plain.ts'

/** In characters. A longer text is a paragraph in the place of a title. */
const TITLE_LIMIT = 500

/**
 * The headline without the outlet's name, whitespace collapsed, entities decoded once. Null without
 * one. The sources are tried in this order: JSON-LD, the headline on the page, Open Graph, the
 * feed, the document's title. The order is that of their agreement with the titles that people gave
 * 318 pages. A headline that no other source repeats is tried last.
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
  const order = repeats(headline, [structured, social, fed, document], own)
    ? [stated, shown, ...rest]
    : [stated, ...rest, shown]
  return order.flatMap(({ source, text }) => {
    if (text === null) return []
    const value = withoutOutlet(text, own)
    return [{ source, value, against: againstTitle(value, own) }]
  })
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

const SEPARATOR = /\s+[-–—|·•:»›/]{1,2}\s+/gu

/**
 * Removes the outlet's name: "Brug dicht - Binnenland | De Dagkoerier" becomes "Brug dicht". Dashes
 * inside a headline stay.
 */
function withoutOutlet(text: string, own: ReadonlySet<string>): string {
  const separators = [...text.matchAll(SEPARATOR)]
  const last = separators.at(-1)
  if (last !== undefined && isOwn(text.slice(last.index + last[0].length), own)) {
    const rest = text.slice(0, last.index)
    const before = separators.at(-2)
    // A single word between two bars, before the outlet's name, is the section.
    const section =
      before?.[0].includes('|') === true &&
      last[0].includes('|') &&
      /^\S+$/.test(rest.slice(before.index + before[0].length))
    return (section ? rest.slice(0, before.index) : rest).trim()
  }
  const first = separators[0]
  if (first !== undefined && isOwn(text.slice(0, first.index), own))
    return text.slice(first.index + first[0].length).trim()
  return text.trim()
}

function isOwn(text: string, own: ReadonlySet<string>): boolean {
  const folded = fold(text)
  return own.has(folded) || own.has(folded.replaceAll(' ', ''))
}
