import { anyOf } from '#services/normaliser/languages/index'
import { fold, lineOf, oneLine } from '#services/normaliser/markup/plain'
import type { Element, Page } from '#services/normaliser/markup/tree'
import { addressKey, readAddress } from '#shared/articles/address'
import { type Crumb, linkedDataIn, NO_THING, type StatedAuthor } from './jsonld.ts'
import { type Line, type Mark, type MarkedText, readMarks } from './marks.ts'
import {
  type ArticleSigns,
  AUTHOR_NAMES,
  articleSigns,
  LANGUAGE_NAMES,
  mainThing,
  named,
  ownAddresses,
  ownThings,
  publishedMetas,
  SITE_NAMES,
  TITLE_NAMES,
  VAGUE_DATE_NAMES,
} from './signs.ts'

/*
 * Everything that a page states about itself, without a decision. The files for title, dates,
 * authors and identity decide which statements to trust.
 */

/** The statements of a page about itself, before any is trusted. Texts as written. */
export interface PageMetadata extends MarkedText {
  url: string
  /** The page's host without `www.`, and its path. */
  host: string
  path: string
  /** Content of the page's meta tags by name, property, itemprop or http-equiv, in lower case. */
  metas: ReadonlyMap<string, string[]>
  /**
   * The same for the attribute `name` alone, in head or body. Only such tags state rules for robots
   * (HTML Standard, 4.2.5; Google's "Robots meta tag specifications").
   */
  named: ReadonlyMap<string, string[]>
  /**
   * `<link rel="canonical">`, that of the header, or else `og:url`. As written, or absolute when
   * the page has a base.
   */
  canonical: string | null
  /** `<link rel="amphtml">`, as the page writes it. */
  amp: string | null
  /**
   * The versions of the page in several languages, itself included (`hreflang`). Addresses as in
   * `canonical`.
   */
  twins: Twin[]
  /** `<link rel="license">`. Addresses as in `canonical`. */
  licences: string[]
  /** Language tags, the most specific statement first. */
  languages: string[]
  /** Names that the site gives itself, which are neither title nor author. */
  siteNames: string[]
  titles: {
    structured: string | null
    social: string | null
    headline: string | null
    document: string | null
  }
  /** In order of trust. `vague`: meta tags that do not say which date they hold. */
  dates: {
    structured: string[]
    meta: string[]
    microdata: string[]
    vague: string[]
    scripted: string[]
  }
  authors: { structured: StatedAuthor[]; meta: string[] }
  /** The text of JSON-LD's `articleBody`, as written. */
  body: string | null
  /**
   * Whether JSON-LD says that everybody may read the article (`isAccessibleForFree`); null: it does
   * not say.
   */
  free: boolean | null
  /** CSS selectors of the parts that JSON-LD says are for subscribers. */
  paidParts: string[]
  signs: ArticleSigns
  classed: Classed
}

/** How a page classes its article. Texts as written. */
export interface Classed {
  /** Types of the article in JSON-LD, in lower case; `liveblogposting` of any thing about it. */
  types: string[]
  /** `articleSection` and `genre` of JSON-LD. */
  sections: string[]
  genres: string[]
  /** Breadcrumb trails of JSON-LD, then those of microdata. */
  trails: { by: 'json-ld' | 'microdata'; crumbs: Crumb[] }[]
  /** `articleSection` of microdata in the page's text. */
  marked: string[]
  /** Whether JSON-LD says that a part of the article is for subscribers. */
  partly: boolean
}

/** One `<link rel="alternate" hreflang="fr">`: the same article in that language. */
export interface Twin {
  /** A language tag, or `x-default`. */
  language: string
  /** As written, or absolute when the page has a base. */
  href: string
}

/**
 * Reads what a page says about itself. Never throws.
 *
 * @param inHeader the canonical link of the header (RFC 6596)
 */
export function readMetadata(
  page: Page,
  url: string,
  inHeader: string | null = null,
): PageMetadata {
  const { $ } = page
  const { hostname = '', pathname: path = '' } = URL.parse(url) ?? {}
  const { metas, named: byName } = metasIn($)
  const title = $('title').length === 0 ? null : lineOf($('title').first().text())
  const canonical =
    oneCanonical(hrefsOf($, 'link[rel~="canonical" i]', url), url) ??
    inHeader ??
    named(metas, ['og:url'])[0] ??
    null
  const social = named(metas, TITLE_NAMES)[0] ?? null
  const { things, trails } = linkedDataIn(
    $(JSON_LD)
      .toArray()
      .map(script => $(script).text()),
  )
  const own = ownAddresses(url, canonical)
  const article = mainThing(things, own, [social, title])
  const about =
    things.find(thing => thing.types.some(type => /webpage|itempage/.test(type))) ?? NO_THING
  const structured = article.headline ? oneLine(article.headline) : null
  const text = readMarks(
    page,
    lines =>
      headlineLine(lines, [structured, social, title]) ?? headlineLine(lines, [titleInPath(path)]),
  )
  return {
    ...text,
    url,
    host: hostname.replace(/^www\./, ''),
    path,
    metas,
    named: byName,
    canonical,
    amp: hrefsOf($, 'link[rel~="amphtml" i]', url)[0] ?? null,
    twins: twinsIn($, url),
    licences: licencesIn(page, url),
    languages: [
      ...($('html').attr('lang') ?? $('html').attr('xml:lang') ?? '').split(','),
      ...named(metas, LANGUAGE_NAMES),
      article.language ?? '',
    ].filter(tag => tag.trim() !== ''),
    siteNames: [...named(metas, SITE_NAMES), ...things.flatMap(thing => thing.publisher ?? [])]
      .map(oneLine)
      .filter(
        name =>
          name !== '' &&
          ![structured, social].some(title => title !== null && fold(title) === fold(name)),
      ),
    titles: {
      structured,
      // The entities of an attribute are already decoded, and must not be decoded twice.
      social: social === null ? null : lineOf(social),
      headline: text.headline === null ? null : (text.lines[text.headline]?.text ?? null),
      document: title,
    },
    dates: {
      structured: [...article.published, ...(about === article ? [] : about.published)],
      meta: publishedMetas(metas),
      microdata: microdataDates(metas, text.marks),
      vague: named(metas, VAGUE_DATE_NAMES),
      scripted: scriptedDates(page.html),
    },
    authors: {
      structured: article.authors.length > 0 ? article.authors : about.authors,
      meta: [...named(metas, AUTHOR_NAMES), ...sharedByline(metas)],
    },
    body: article.body,
    free: article.free,
    paidParts: [...new Set([...article.paidParts, ...about.paidParts])],
    signs: articleSigns(metas, article, own),
    classed: {
      sections: article.sections,
      genres: article.genres,
      partly: article.partly || about.partly,
      types: [
        ...article.types,
        ...ownThings(things, own, [social, title])
          .flatMap(({ types }) => types)
          .filter(type => type === 'liveblogposting'),
      ],
      trails: [
        ...trails.map(crumbs => ({ by: 'json-ld' as const, crumbs })),
        ...markedTrails($).map(crumbs => ({ by: 'microdata' as const, crumbs })),
      ],
      marked: $('[itemprop~="articleSection" i]:not(meta)')
        .toArray()
        .slice(0, TRAILS)
        .map(element => $(element).text().slice(0, LONGEST_NAME)),
    },
  }
}

const TRAILS = 5
const CRUMBS = 20
const LONGEST_NAME = 500

/** Breadcrumb trails in microdata or RDFa. */
const markedTrails = ($: Page['$']): Crumb[][] =>
  $(':is([itemtype$="/BreadcrumbList" i], [typeof$="BreadcrumbList" i])')
    .toArray()
    .slice(0, TRAILS)
    .map(list =>
      $(list)
        .find(':is([itemprop~="itemListElement" i], [property~="itemListElement" i])')
        .toArray()
        .slice(0, CRUMBS)
        .map(step => {
          const name = $(step).find(':is([itemprop~="name" i], [property~="name" i])').first()
          const link = $(step).find('a[href]').addBack('a[href]').first()
          const text = name.attr('content') ?? (name.length > 0 ? name : $(step)).text()
          return { name: text.slice(0, LONGEST_NAME), address: link.attr('href') ?? null }
        }),
    )

const JSON_LD = 'script[type*="ld+json" i], script[type*="json+ld" i]'
const LINKED_DATA = /^<[^>]*(?:ld\+json|json\+ld)/i
const TWINS = 100
const LICENCES = 3
const META_VALUES = 50

/**
 * Content of meta tags: `metas` by all attributes that can name a tag, `named` by `name` alone.
 * Names are in lower case.
 */
function metasIn($: Page['$']): { metas: Map<string, string[]>; named: Map<string, string[]> } {
  const metas = new Map<string, string[]>()
  const byName = new Map<string, string[]>()
  const add = (to: Map<string, string[]>, name: string, content: string) => {
    const values = to.get(name) ?? []
    if (values.length < META_VALUES) to.set(name, [...values, content])
  }
  for (const { attribs } of $('meta:is([content], [value])').toArray()) {
    const content = (attribs.content ?? attribs.value ?? '').trim()
    for (const attribute of ['property', 'name', 'itemprop', 'http-equiv']) {
      const name = attribs[attribute]?.trim().toLowerCase()
      if (!name || content === '') continue
      add(metas, name, content)
      if (attribute === 'name') add(byName, name, content)
    }
  }
  return { metas, named: byName }
}

/** The versions of the page in several languages, itself included. */
const twinsIn = ($: Page['$'], url: string): Twin[] =>
  $('link[rel~="alternate" i][hreflang][href]')
    .toArray()
    .slice(0, TWINS)
    .map(({ attribs: { hreflang = '', href = '' } }) => ({
      language: hreflang.trim(),
      href: based($, href.trim(), url),
    }))

/** The addresses of some links, as `based` resolves them. */
const hrefsOf = ($: Page['$'], selector: string, url: string): string[] =>
  $<Element, string>(selector)
    .toArray()
    .flatMap(({ attribs: { href } }) => (href?.trim() ? [based($, href.trim(), url)] : []))

/**
 * Resolves a link against the base of the page (HTML Standard, 4.2.3). Without a base, the link
 * stays as written.
 */
function based($: Page['$'], href: string, url: string): string {
  const base = $('base[href]').attr('href')
  const around = base === undefined ? null : readAddress(base, url)
  return around === null ? href : (readAddress(href, around.href)?.href ?? href)
}

/** The licences that a page links to, or holds (RSL). */
const licencesIn = ({ $, html }: Page, url: string): string[] =>
  [
    ...hrefsOf($, 'link[rel~="license" i]', url),
    ...(RSL.test(html) ? ['RSL, in the page'] : []),
  ].slice(0, LICENCES)
const RSL = /<script\s[^<>]{0,200}application\/rsl\+xml/i

/** The canonical link; null when several links differ. Search engines also ignore these. */
function oneCanonical(hrefs: string[], url: string): string | null {
  const links = hrefs
    .map(href => ({ href, read: readAddress(href, url) }))
    .flatMap(({ href, read }) => (read === null ? [] : [{ href, key: addressKey(read) }]))
  return new Set(links.map(({ key }) => key)).size === 1 ? links[0]!.href : null
}

const AUTHOR_CARD = new RegExp(`^${anyOf(rules => rules.authors.cardLabels)}`, 'i')

/**
 * The bylines of a Twitter card, which has pairs of label and text. With the label "Written by" in
 * `label1`, `data1` is a byline; with "Reading time" it is not.
 */
const sharedByline = (metas: Map<string, string[]>): string[] =>
  ['1', '2'].flatMap(n => {
    const label = metas.get(`twitter:label${n}`)?.[0] ?? ''
    return AUTHOR_CARD.test(label) ? (metas.get(`twitter:data${n}`) ?? []) : []
  })

/** Dates of publication in microdata, without those of other articles in lists. */
function microdataDates(metas: Map<string, string[]>, marks: Mark[]): string[] {
  const dates = marks.filter(mark => mark.kind === 'date' && mark.by === 'microdata')
  const others = new Set(dates.filter(mark => mark.ofItem).map(mark => mark.value))
  return [
    ...named(metas, ['datepublished']).filter(value => !others.has(value)),
    ...dates.filter(mark => !mark.ofItem).map(mark => mark.value ?? mark.text),
  ]
}

/**
 * Dates in the data of pages that scripts build: `"publishedAt":"2026-11-03T14:05:00Z"`. JSON-LD is
 * left out, because `linkedDataIn` reads it, and knows which thing each date belongs to.
 */
function scriptedDates(html: string): string[] {
  const found = html
    .replace(/<script\b[^<>]{0,400}>.*?(?:<\/script>|$)/gis, written =>
      LINKED_DATA.test(written) ? '' : written,
    )
    .matchAll(
      /\\?"(?:date_?published|published_?(?:at|date|time)?|publication_?date|publish_?date|first_?published(?:at|date)?|created_?at)\\?"\s*:\s*\\?"(\d{4}-\d{2}-\d{2}[^"\\]{0,25})/gi,
    )
  return [...found.take(3)].map(match => match[1] ?? '')
}

/**
 * The index of the line that is the article's headline on the page, or null. Sites may put their
 * own name, or another article's title, into an `h1`. So the line that covers most of the page's
 * title wins over the first `h1`.
 */
function headlineLine(lines: readonly Line[], titles: (string | null)[]): number | null {
  const known = titles
    .flatMap(title => (title === null ? [] : [fold(title)]))
    .filter(title => title.length > 3)
  let best: { index: number; score: number } | null = null
  for (const [index, line] of lines.entries()) {
    const text = fold(line.text)
    if (text.length < 4) continue
    const covered = Math.max(0, ...known.map(title => coveredShare(title, text)))
    const place = (line.heading === 1 ? 4 : line.heading > 1 ? 2 : 0) + (line.aside ? 0 : 2)
    const score = covered * 8 + place
    const least = line.heading === 1 ? 4 : line.heading > 1 ? 6 : 8
    if (score >= least && (best === null || score > best.score)) best = { index, score }
  }
  return best?.index ?? null
}

/** Fewest words of a title in an address. Fewer words may name a section: `/nieuws/lokaal`. */
const TITLE_WORDS = 4

/**
 * The title in an address such as `/2026/11/brug-over-de-maas-dicht-12345.html`, for pages that do
 * not state their title.
 */
function titleInPath(path: string): string | null {
  const last = path.split('/').findLast(part => part !== '') ?? ''
  const words = fold(last.replace(/\.\w{2,5}$/, '').replace(/[-_]\d+$|^\d+[-_]/g, ''))
  return words.split(' ').length < TITLE_WORDS ? null : words
}

/**
 * The share of the title that the line covers. One of them may contain the other together with a
 * kicker or the site's name.
 */
function coveredShare(title: string, text: string): number {
  if (title === text) return 1
  if (text.length < 10 || title.length < 10) return 0
  if (title.includes(text)) return text.length / title.length
  return text.includes(title) ? title.length / text.length : 0
}
