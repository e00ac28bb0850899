import type { Stated } from '#search/types'
import { bestOf, type Candidate } from '#services/normaliser/candidate'
import { fold, oneLine } from '#services/normaliser/markup/plain'
import { type Access, KINDS, type Kind } from '#shared/articles/article'
import type { Source } from '#shared/outlets/origins'
import type { FeedEntry } from '#shared/outlets/page'
import LABELS from './labels.json' with { type: 'json' }
import type { Line } from './marks.ts'
import type { PageMetadata } from './metadata.ts'
import { named } from './signs.ts'

/*
 * What the outlet itself says of an article: its section, its kind, and who may read it. Nothing is
 * guessed from the text. A field about which the outlet says nothing, or two things, is null.
 * `labels.json` has the words of outlets, folded: `none` name no section, `start` the start page,
 * `guides` and `others` are words of labels of what is no news, and `whole` such labels as a whole.
 * `common` are labels of kinds that words of news are, too, and `desks` words of sections of news.
 */

export type StatementCandidates = { [K in keyof Stated]: Candidate<NonNullable<Stated[K]>>[] }

/** Everything that the page and the feed say, in order of rank. */
export function statementCandidates(
  meta: PageMetadata,
  entry: FeedEntry | null,
): StatementCandidates {
  return {
    section: sectionsOf(meta, entry),
    kind: kindsOf(meta, entry),
    access: agreeing(accessesOf(meta)),
  }
}

export function statementsOf(meta: PageMetadata, entry: FeedEntry | null): Stated {
  const { section, kind, access } = statementCandidates(meta, entry)
  return {
    section: bestOf(section)?.value ?? null,
    kind: bestOf(kind)?.value ?? null,
    access: bestOf(access)?.value ?? null,
  }
}

/** The most characters of a section. A longer text is a list of keywords, or a sentence. */
const LONGEST_SECTION = 100

const SECTION_NAMES = ['article:section', 'og:article:section', 'articlesection', 'parsely-section']

/** What one source says, in order of rank. */
type Sayings = [source: Source, texts: string[]]

function sectionsOf(meta: PageMetadata, entry: FeedEntry | null): Candidate<string>[] {
  const sayings: Sayings[] = [
    ['json-ld', meta.classed.sections],
    ['meta', named(meta.metas, SECTION_NAMES)],
    ['microdata', meta.classed.marked],
    ...trailsOf(meta),
    // Of several categories some are keywords, and nothing tells which.
    ['feed', entry?.categories?.length === 1 ? entry.categories : []],
  ]
  const all = sayings
    .flatMap(([source, texts]) => said(source, texts.slice(0, 1)))
    .map(one => ({ ...one, value: oneLine(one.value).replace(/\s?[,;:|>/]$/, '') }))
  return all.map(one => {
    const parts = one.value.split(', ')
    const isList = parts.length > 1 && all.some(({ value }) => parts.includes(value))
    return { ...one, against: isList ? LIST : againstSection(one.value, meta) }
  })
}

const said = <T>(source: Source, values: (T | null | undefined)[]): Candidate<T>[] =>
  values.flatMap(value => (value ? { source, value, against: null } : []))

const LIST = 'a list, or no name that people read'

/** The list of all articles, of all news and the like. */
const ALL = /^(?:all|alle|tous|toutes)(?: \p{L}{1,20})?$/u
/** Keywords in a row, names that machines read, and issues of a magazine. */
const NO_NAME =
  /,[^,]*,|^(?:ausgabe|heft|issue|nummer|num[ée]ro) #?\d|,\S|_|^https?:|^[\w-]{1,60}(?:\.[\w-]{1,60})+$/i
function againstSection(section: string, { host, siteNames, titles }: PageMetadata): string | null {
  const folded = fold(section)
  if (folded === '') return 'no word'
  if (section.length > LONGEST_SECTION) return `longer than ${LONGEST_SECTION} characters`
  const others = [...LABELS.none, ...LABELS.start]
  if (others.includes(folded) || ALL.test(folded)) return 'no section'
  if (NO_NAME.test(section)) return LIST
  const names = [...siteNames, host, host.split('.')[0] ?? '']
  if (names.some(name => fold(name) === folded)) return 'the name of the site'
  return isTitle(folded, titles) ? 'the title of the article' : null
}

const isTitle = (folded: string, titles: PageMetadata['titles']) =>
  Object.values(titles).some(title => title !== null && fold(title) === folded)

/**
 * The steps of each trail between the start of the site and the article. The first one is the
 * section, and others are parts of it.
 */
const trailsOf = (meta: PageMetadata): Sayings[] =>
  meta.classed.trails.map(({ by, crumbs }) => [
    by,
    crumbs.flatMap(({ name, address }, at) => {
      const folded = fold(oneLine(name))
      const path = address === null ? null : (URL.parse(address, meta.url)?.pathname ?? null)
      const isStart = at === 0 && (LABELS.start.includes(folded) || path === '/')
      const isSelf = path === meta.path || isTitle(folded, meta.titles)
      return folded === '' || isStart || isSelf ? [] : name
    }),
  ])

const OF_KIND: Record<Kind, { types: string[]; labels: string[] }> = LABELS.kinds

/** A label is a whole section, genre, part of an address or of a title. */
function labelled(label: string): Kind | null {
  const folded = fold(oneLine(label))
  return KINDS.find(kind => OF_KIND[kind].labels.includes(folded)) ?? null
}

const typed = (type: string) => KINDS.find(kind => OF_KIND[kind].types.includes(type))

/** Labels in a title, as `Opinie: Fietsen` and `Fietsen | Opinion`. */
const titleLabels = (title: string): string[] => [
  ...(title.includes(':') ? title.split(':', 1) : []),
  ...(title.includes('|') ? title.split('|') : []),
]

function kindsOf(meta: PageMetadata, entry: FeedEntry | null): Candidate<Kind>[] {
  const { types, sections, genres, marked } = meta.classed
  const folders = meta.path
    .replace(/\/$/, '')
    .split('/')
    .slice(1, -1)
    .filter(folder => !DATE_OR_LANGUAGE.test(folder))
  const labels: Sayings[] = [
    ['json-ld', [...genres, ...sections]],
    ['meta', named(meta.metas, [...SECTION_NAMES, 'genre', 'article:genre', 'og:article:genre'])],
    ['microdata', marked],
    ...trailsOf(meta),
    ['feed', entry?.categories ?? []],
    ['document', Object.values(meta.titles).flatMap(title => titleLabels(title ?? ''))],
    ['address', meta.signs.typed ? folders : []],
  ]
  const ownSections = [...labels.slice(0, -3).flatMap(([, texts]) => texts), ...folders]
  const classes = [...ownSections, ...(entry?.categories ?? [])]
  const isGuide = classes.some(one => hasWord(one, LABELS.guides)) || isRanking(meta.titles)
  const isOpinion = named(meta.metas, ['article:opinion'])[0] === 'true'
  const ofLabels = agreeing(labels.flatMap(([source, texts]) => said(source, texts.map(labelled))))
  const against = isGuide
    ? 'a guide'
    : (ofLabels[0]?.against ?? againstNews(meta, classes, ownSections.length > 0))
  return [
    ...said('json-ld', types.map(typed)).toSorted(
      (a, b) => Number(a.value === 'news') - Number(b.value === 'news'),
    ),
    ...said<Kind>('meta', [isOpinion ? 'opinion' : null]),
    ...ofLabels.map(one =>
      isGuide && one.value === 'review' ? { ...one, against: 'a guide' } : one,
    ),
    // Outlets write the general type for all kinds, so every other statement goes before it.
    ...said<Kind>('json-ld', [types.includes('newsarticle') ? 'news' : null]).map(one => ({
      ...one,
      against,
    })),
  ]
}

/** Folders such as `2026`, `05-31`, `fr` and `nl-be`, which are no sections. */
const DATE_OR_LANGUAGE = /^[\d-]+$|^(?:nl|fr|de|lb|en)(?:[-_][a-z]{2})?$/i

const oneOf = (expressions: RegExp[]): RegExp =>
  new RegExp(expressions.map(({ source }) => source).join('|'), 'iu')

/** Titles of rankings and advice. */
const RANKING = oneOf([
  /^(?:(?:the|die|les|de) (?:\d{1,3} )?|\d{1,3} )(?:best|besten?|meilleure?s?)\b|^top \d/u,
  /^the \d{1,3} (?!forest|protest|arrest|interest|west|guest|request|priest|test|contest)(?:\p{L}{1,20}est|most) /u,
  /^de \d{1,3} (?!eerste|laatste|vermiste|vaste|juiste|bewuste)(?:\p{L}{1,20}ste|meest) |^les \d{1,3} plus /u,
  // Best is a town, too, and `of` is Dutch, but hardly before a year.
  /\bthe best\b.{1,60} in 20\d\d\b|(?:^|\bthe )best\b.{1,60} of 20\d\d\b/u,
  /(?:^|[:–-] ?)\d{1,2} (?:\p{L}{1,12}[ -])?(?:tipps|tips|conseils|astuces)\b/u,
  /^\d{1,3} (?:ways|things|reasons|dinge|gründe|choses|raisons|façons|manieren|redenen|dingen)\b/u,
  /\bgifts? (?:guide|ideas?|for)\b|\bbuying guide\b/u,
])
/** Titles of reviews, live pages, explanations and offers. */
const OTHER_TITLE = oneOf([
  /\breview(?:$| ?[:|–-])|\bim (?:\p{L}{1,10})?test\b/u,
  /^(?:how|where|when|what) (?:and \p{L}{2,5} )?to\b|^so (?:geht|klappt|funktioniert|können|kannst|kann man)\b|^hoe (?:je|u|kun)\b|\bhow to watch\b/u,
  /\blive ?-?(?:blog|updates?)\b|ticker\b|\bas it happened\b|\ben direct\b|^(?:live|direct) ?[:.|–-]/u,
  /\b(?:nur|jetzt|only|just|now|slechts|nu|vanaf|seulement|dès|ab) (?:noch |nog |für )?(?:[€$£] ?\d|\d[\d.,]{0,9} ?(?:€|euros?\b|dollars?\b|franken\b))/u,
  /\b\d{1,2} ?% (?:off|rabatt|korting|de réduction)\b|\b(?:black friday|prime day|schnäppchen)/u,
])
/** A German superlative. Nouns that end so begin with a capital letter. */
const SUPERLATIVE = /^Die \d{1,3} (?!ersten|vermissten|festen)\p{Ll}{1,20}sten /u
const isRanking = (titles: PageMetadata['titles']): boolean =>
  Object.values(titles).some(
    title => title !== null && (RANKING.test(title) || SUPERLATIVE.test(title)),
  )
/**
 * The writer speaks in the title; callers take out quotations first. It also takes the Dutch `je`
 * (you) and `mijn` (a mine), and the `I` of a king: such articles then say nothing.
 */
const FIRST_PERSON =
  /(?<!War )\bI(?:['’](?:m|ve|d|ll))? \p{L}|^(?:Why |How )?My\b|(?<!\p{L})(?:[Ii]ch|[Mm]ein(?:e[mnrs]?)?|[Ii]k|[Mm]ijn|[Jj]e|[Jj]['’]|[Mm]on|[Ee]ch|[Mm]äin|[Mm]eng)(?!\p{L})/u
const QUOTED = /["“”„«»‘‚][^"“”„«»’‘]*["“”„«»’‘]?|(?<![\p{L}\p{N}])'[^']*'(?!\p{L})/gu
/** Longer ones are texts, in words. */
const LONGEST_LABEL = 4
/** Hosts that write one type for all that their users publish, and those of one writer. */
const PLATFORM = /(?:^|\.)(?:medium|substack|blogspot)\.com$|^(?:blogs?|newsletter)\./
/** The same software on a host of the writer's own. */
const PLATFORM_NAMES = ['generator', 'al:ios:app_name', 'al:android:app_name']
const KEYWORD_NAMES = ['keywords', 'news_keywords', 'parsely-tags', 'article:tag']

/**
 * Why the general type says nothing: the outlet's other words are not of news. Null: none are.
 *
 * @param labels sections, genres, steps of a trail, folders, categories of the feed
 * @param hasSection whether one of them is more than a category of the feed, which may be a keyword
 */
function againstNews(meta: PageMetadata, labels: string[], hasSection: boolean): string | null {
  const { titles, host, metas, path, authors, siteNames, lines, headline } = meta
  if (labels.some(isOther)) return 'a label of something else'
  if (hasSection && !labels.some(label => hasWord(label, LABELS.desks))) return 'no section of news'
  const keywords = named(metas, KEYWORD_NAMES).flatMap(list => list.split(','))
  const slug = path.split(/[/_.-]/)
  if ([...keywords, ...slug].some(isOtherWord)) return 'a keyword of something else'
  if (headline !== null && lines.slice(Math.max(0, headline - 3), headline + 6).some(isKicker))
    return 'a label beside the headline'
  const written = Object.values(titles).flatMap(title => title ?? [])
  if (written.some(title => OTHER_TITLE.test(title))) return 'a title of something else'
  if (written.some(title => FIRST_PERSON.test(title.replace(QUOTED, ''))))
    return 'its writer speaks'
  const own = siteNames.map(fold)
  const isOwn = authors.structured.some(
    ({ name }) => !own.includes(fold(name)) && isHostOf(host, fold(name).split(' ')),
  )
  const software = named(metas, PLATFORM_NAMES).some(name => /^(?:blogger|medium)\b/i.test(name))
  return isOwn || software || PLATFORM.test(host) ? 'a site of one writer' : null
}

const isOther = (label: string): boolean =>
  hasWord(label, LABELS.others) || LABELS.whole.includes(fold(oneLine(label)))

function hasWord(label: string, known: readonly string[]): boolean {
  const words = fold(oneLine(label)).split(' ')
  return words.length <= LONGEST_LABEL && words.some(word => known.includes(word))
}

/** Whether a line beside the headline is such a label, or begins or ends with one. */
function isKicker({ text }: Line): boolean {
  const folded = fold(text)
  const words = folded.split(' ').filter((word, at) => at > 0 || !LABELS.articles.includes(word))
  const ends = [words[0], words.slice(0, 2).join(' '), words.at(-1)]
  return LABELS.others.includes(folded) || ends.some(one => one !== undefined && isOtherWord(one))
}

/** Whether a keyword, or a word of an address, names a kind that is not news. */
function isOtherWord(keyword: string): boolean {
  const folded = fold(oneLine(keyword))
  return !LABELS.common.includes(folded) && labelled(folded) !== null
}

const isHostOf = (host: string, words: string[]) =>
  words.length > 1 && words.every(word => word.length > 2 && host.includes(word))

function accessesOf({ free, classed, metas }: PageMetadata): Candidate<Access>[] {
  const tier = named(metas, ['article:content_tier'])[0]?.toLowerCase()
  const marked = named(metas, ['isaccessibleforfree'])[0]?.toLowerCase() ?? ''
  return [
    ...said<Access>('json-ld', [
      free === null ? null : free ? 'free' : 'paid',
      classed.partly ? 'paid' : null,
    ]),
    // A metered article is free for some readers and not for others.
    ...said<Access>('meta', [tier === 'free' ? tier : tier === 'locked' ? 'paid' : null]),
    ...said<Access>('microdata', [
      /^(?:true|1|yes)$/.test(marked) ? 'free' : /^(?:false|0|no)$/.test(marked) ? 'paid' : null,
    ]),
  ]
}

/** Statements that contradict each other say nothing. */
const agreeing = <T>(candidates: Candidate<T>[]): Candidate<T>[] =>
  candidates.every(({ value }) => value === candidates[0]?.value)
    ? candidates
    : candidates.map(one => ({ ...one, against: 'the page says both' }))
