import { addressKey, readAddress } from '../../../shared/articles/address.ts'
import { anyOf } from '../languages/index.ts'
import { type StatedAuthor, thingsIn } from './jsonld.ts'
import { type Outline, outlineOf } from './outline.ts'
import type { Line, Mark } from './outline-body.ts'
import { collapse, fold, oneLine } from './plain.ts'
import {
  type ArticleSigns,
  AUTHOR_NAMES,
  articleSigns,
  LANGUAGE_NAMES,
  mainThing,
  named,
  PUBLISHED_NAMES,
  SITE_NAMES,
  TITLE_NAMES,
  VAGUE_DATE_NAMES,
} from './signs.ts'

/** `aside`: in navigation, comments, or teasers to other articles. */
export type PageMark = Omit<Mark, 'aside' | 'within'> & {
  aside: boolean
  /** The indexes of the marks of its kind around it and its own, from the outside in. */
  path: number[]
  /** The `hint` of all marks in `path`. */
  hints: string
}
type PageLine = Omit<Line, 'aside'> & { aside: boolean }

/** The statements of a page about itself, before any is believed. Texts as written. */
export interface PageMetadata {
  url: string
  /**
   * `<link rel="canonical">`, else `og:url`. As written, or absolute when the page names a base.
   */
  canonical: string | null
  /** `<link rel="amphtml">`, likewise. */
  amp: string | null
  /** The page in several languages, itself included (`hreflang`). Addresses likewise. */
  twins: Outline['twins']
  /** Language tags, the most specific statement first. */
  languages: string[]
  /** Names that the site gives itself. They are neither title nor author. */
  siteNames: string[]
  titles: { structured: string | null; social: string | null; headline: string | null; document: string | null }
  /** In order of trust. `vague` are meta tags that do not say which date they hold. */
  dates: { structured: string[]; meta: string[]; microdata: string[]; vague: string[]; scripted: string[] }
  authors: { structured: StatedAuthor[]; meta: string[] }
  /** Elements whose markup says author or date. */
  marks: PageMark[]
  lines: PageLine[]
  /** The index in `lines` of the headline. */
  headline: number | null
  /** The text of JSON-LD's `articleBody`, as written. */
  body: string | null
  /** Whether JSON-LD says that all may read it (`isAccessibleForFree`). */
  free: boolean | null
  signs: ArticleSigns
}

/**
 * Reads a page's metadata in one pass. Never throws; bounded in time and memory on hostile pages.
 */
export function readMetadata(html: string, url: string): PageMetadata {
  const outline = outlineOf(html)
  const { metas } = outline
  const links = basedLinks(outline, url)
  const canonical = oneCanonical(links, url) ?? named(metas, ['og:url'])[0] ?? null
  const social = named(metas, TITLE_NAMES)[0] ?? null
  const things = thingsIn(outline.jsonLd)
  const article = mainThing(things, [url, canonical], [social, outline.title])
  const page = things.find(thing => thing.types.some(type => /webpage|itempage/.test(type))) ?? null
  const structured = article?.headline ? oneLine(article.headline) : null
  const headline =
    headlineLine(outline, [structured, social, outline.title]) ?? headlineLine(outline, [titleInAddress(url)])
  const anchor = headline ?? longestLine(outline.lines)
  const microdata = (kind: Mark['kind']) => outline.marks.filter(mark => mark.kind === kind && mark.by === 'microdata')
  return {
    url,
    canonical,
    amp: links.find(link => link.rel === 'amphtml')?.href ?? null,
    twins: basedTwins(outline, url),
    languages: [
      ...(outline.language ?? '').split(','),
      ...named(metas, LANGUAGE_NAMES),
      article?.language ?? '',
    ].filter(tag => tag.trim() !== ''),
    siteNames: [...named(metas, SITE_NAMES), ...things.flatMap(thing => thing.publisher ?? [])]
      .map(oneLine)
      .filter(name => name !== '' && ![structured, social].some(title => title !== null && fold(title) === fold(name))),
    titles: {
      structured,
      // The entities of an attribute are decoded already. A second time would be wrong.
      social: social === null ? null : collapse(social),
      headline: headline === null ? null : (outline.lines[headline]?.text ?? null),
      document: outline.title,
    },
    dates: {
      structured: [...(article?.published ?? []), ...(page === article ? [] : (page?.published ?? []))],
      meta: named(metas, PUBLISHED_NAMES),
      microdata: [...named(metas, ['datepublished']), ...microdata('date').flatMap(mark => mark.value ?? mark.text)],
      vague: named(metas, VAGUE_DATE_NAMES),
      scripted: scriptedDates(html),
    },
    authors: {
      structured: article?.authors.length ? article.authors : (page?.authors ?? []),
      meta: [...named(metas, AUTHOR_NAMES), ...sharedByline(metas)],
    },
    marks: pageMarks(outline, anchor),
    lines: outline.lines.map(line => ({ ...line, aside: isAside(outline, anchor, line.aside) })),
    headline,
    body: article?.body ?? null,
    free: article?.free ?? null,
    signs: articleSigns(metas, article, url, canonical),
  }
}

function pageMarks(outline: Outline, anchor: number | null): PageMark[] {
  const marks: PageMark[] = []
  for (const [index, { within, aside, ...mark }] of outline.marks.entries()) {
    const around = within === null ? undefined : marks[within]
    const path = [...(around?.path ?? []), index].slice(-20)
    const hints = `${around?.hints ?? ''} ${mark.hint}`.slice(-1000)
    marks.push({ ...mark, aside: isAside(outline, anchor, aside), path, hints })
  }
  return marks
}

/** Resolves links against the base that the page names (HTML Standard, 4.2.3). */
const basedLinks = ({ links, base }: Outline, url: string) => based(links, base, url)
const basedTwins = ({ twins, base }: Outline, url: string) => based(twins, base, url)

function based<Link extends { href: string }>(links: Link[], base: string | null, url: string): Link[] {
  const around = base === null ? null : readAddress(base, url)
  if (around === null) return links
  return links.map(link => ({ ...link, href: readAddress(link.href, around.href)?.href ?? link.href }))
}

/** The canonical link; null when several links differ. Search engines ignore those too. */
function oneCanonical(links: { rel: string; href: string }[], url: string): string | null {
  const hrefs = links.filter(link => link.rel.split(/\s+/).includes('canonical')).map(link => link.href)
  const keys = new Set(
    hrefs
      .map(href => readAddress(href, url)?.href)
      .filter(href => href !== undefined)
      .map(addressKey),
  )
  return keys.size === 1 ? (hrefs.find(href => readAddress(href, url) !== null) ?? null) : null
}

const AUTHOR_CARD = new RegExp(`^${anyOf(rules => rules.authors.cardLabels)}`, 'i')

/**
 * The bylines of a Twitter card, which pairs labels with texts: `label1` "Written by" makes `data1`
 * a byline, "Reading time" does not.
 */
function sharedByline(metas: Map<string, string[]>): string[] {
  return ['1', '2'].flatMap(n => {
    const label = metas.get(`twitter:label${n}`)?.[0] ?? ''
    return AUTHOR_CARD.test(label) ? (metas.get(`twitter:data${n}`) ?? []) : []
  })
}

/** Dates in the data of pages that scripts build: `"publishedAt":"2026-11-03T14:05:00Z"`. */
function scriptedDates(html: string): string[] {
  const found = html.matchAll(
    /\\?"(?:date_?published|published_?(?:at|date|time)?|publication_?date|publish_?date|first_?published(?:at|date)?|created_?at)\\?"\s*:\s*\\?"(\d{4}-\d{2}-\d{2}[^"\\]{0,25})/gi,
  )
  return [...found.take(3)].map(match => match[1] ?? '')
}

/** The longest line. On a page without a headline, the article is around it. */
function longestLine(lines: Line[]): number | null {
  let longest: number | null = null
  for (const [index, line] of lines.entries()) {
    if (longest === null || line.text.length > (lines[longest]?.text.length ?? 0)) longest = index
  }
  return longest
}

/**
 * The index of the line that is the article's headline on the page, or null. Sites put their own
 * name, or another article's title, into an `h1`. Therefore the line that covers most of the page's
 * title wins over the first `h1`.
 */
function headlineLine(outline: Outline, titles: (string | null)[]): number | null {
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
function titleInAddress(url: string): string | null {
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
function isAside(outline: Pick<Outline, 'asides' | 'lines'>, line: number | null, aside: number | null): boolean {
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
