import type { Outlet } from '../../../shared/outlets/outlet.ts'
import type { FeedEntry } from '../../../shared/pages/page.ts'
import { fold } from './fold.ts'
import type { PageMetadata } from './metadata.ts'
import { oneLine } from './plain.ts'

/** A longer text is a paragraph that landed in a title's place, in characters. */
const TITLE_LIMIT = 500

/**
 * The headline without the outlet's name, whitespace collapsed, entities decoded once; null when
 * nothing has one. JSON-LD's headline first, then the headline on the page, Open Graph, the feed,
 * the document's title: by the order in which they equal what people call the title of 318 pages. A
 * headline that none of the others repeats comes last.
 */
export function chooseTitle(
  meta: PageMetadata,
  entry: FeedEntry | null,
  outlet: Pick<Outlet, 'name' | 'domain'>,
): string | null {
  const { structured, social, headline, document } = meta.titles
  const own = ownNames(meta, outlet)
  const fed = entry?.title ? oneLine(entry.title) : null
  const others = [structured, social, fed, document]
  const order = repeats(headline, others, own) ? [structured, headline, social, fed, document] : [...others, headline]
  for (const candidate of order) {
    const title = candidate === null ? '' : withoutOutlet(candidate, own)
    if (title !== '' && title.length <= TITLE_LIMIT && !isOwn(title, own)) return title
  }
  return null
}

/**
 * Whether a title says what the headline says, at least half its words: else it may be the site's
 * name or a section's.
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
 * "Brug dicht - Binnenland | De Dagkoerier" is "Brug dicht"; the outlet's own dashes inside a
 * headline stay.
 */
function withoutOutlet(text: string, own: ReadonlySet<string>): string {
  const separators = [...text.matchAll(SEPARATOR)]
  const last = separators.at(-1)
  if (last !== undefined && isOwn(text.slice(last.index + last[0].length), own)) {
    const rest = text.slice(0, last.index)
    const before = separators.at(-2)
    // Before the outlet's name, between two bars, a lone word is the section.
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
