import type { Stated } from '../../../search/types.ts'
import { ACCESSES, type Access, KINDS, type Kind } from '../../../shared/articles/article.ts'
import type { FeedEntry } from '../../../shared/outlets/page.ts'
import { bestOf, type Candidate } from '../candidate.ts'
import { fold, oneLine } from '../markup/plain.ts'
import type { Crumb } from './jsonld.ts'
import LABELS from './labels.json' with { type: 'json' }
import type { PageMetadata } from './metadata.ts'
import { named } from './signs.ts'

/*
 * What the outlet itself says of an article: its section, its kind, and who may read it. Nothing is
 * guessed from the text. A field about which the outlet says nothing, or two things, is null.
 * `labels.json` has the words of outlets, folded: `none` name no section, `start` the start page,
 * `others` are words of labels of guides and the like, and `whole` are such labels as a whole.
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

function sectionsOf(meta: PageMetadata, entry: FeedEntry | null): Candidate<string>[] {
  const { sections, trails, marked } = meta.classed
  const said: Pick<Candidate<string>, 'source' | 'value'>[] = [
    ...sections.slice(0, 1).map(value => ({ source: 'json-ld' as const, value })),
    ...named(meta.metas, SECTION_NAMES)
      .slice(0, 1)
      .map(value => ({ source: 'meta' as const, value })),
    ...marked.slice(0, 1).map(value => ({ source: 'microdata' as const, value })),
    ...trails.flatMap(({ by, crumbs }) =>
      sectionsOn(crumbs, meta)
        .slice(0, 1)
        .map(({ name }) => ({ source: by, value: name })),
    ),
    // Of several categories some are keywords, and nothing tells which.
    ...(entry?.categories?.length === 1
      ? entry.categories.map(value => ({ source: 'feed' as const, value }))
      : []),
  ]
  const all = said.map(one => ({ ...one, value: oneLine(one.value).replace(/\s?[,;:|>/]$/, '') }))
  return all.map(({ source, value }) => {
    const parts = value.split(', ')
    const isList = parts.length > 1 && all.some(other => parts.includes(other.value))
    return { source, value, against: isList ? LIST : againstSection(value, meta) }
  })
}

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
 * The steps of a trail between the start of the site and the article. The first one is the section,
 * and others are parts of it.
 */
function sectionsOn(crumbs: Crumb[], meta: PageMetadata): Crumb[] {
  return crumbs.filter(({ name, address }, at) => {
    const folded = fold(oneLine(name))
    const path = address === null ? null : (URL.parse(address, meta.url)?.pathname ?? null)
    const isStart = at === 0 && (LABELS.start.includes(folded) || path === '/')
    const isSelf = path === meta.path || isTitle(folded, meta.titles)
    return folded !== '' && !isStart && !isSelf
  })
}

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
  const { types, sections, genres, trails, marked } = meta.classed
  const of = (source: Candidate<Kind>['source'], kinds: (Kind | null | undefined)[]) =>
    kinds.flatMap(value => (value ? [{ source, value, against: null }] : []))
  const folders = meta.path.replace(/\/$/, '').split('/').slice(1, -1)
  const labels: [Candidate<Kind>['source'], string[]][] = [
    ['json-ld', [...genres, ...sections]],
    ['meta', named(meta.metas, [...SECTION_NAMES, 'genre', 'article:genre', 'og:article:genre'])],
    ['microdata', marked],
    ...trails.map(({ by, crumbs }): [typeof by, string[]] => [
      by,
      sectionsOn(crumbs, meta).map(({ name }) => name),
    ]),
    ['feed', entry?.categories ?? []],
    ['document', Object.values(meta.titles).flatMap(title => titleLabels(title ?? ''))],
    ['address', meta.signs.typed ? folders : []],
  ]
  const isOpinion = named(meta.metas, ['article:opinion'])[0] === 'true'
  return [
    ...of('json-ld', types.map(typed)).toSorted(
      (a, b) => Number(a.value === 'news') - Number(b.value === 'news'),
    ),
    ...of('meta', [isOpinion ? 'opinion' : null]),
    ...labels.flatMap(([source, texts]) => of(source, texts.map(labelled))),
    // Outlets write the general type for all kinds, so every other statement goes before it.
    ...of('json-ld', [types.includes('newsarticle') ? 'news' : null]).map(one => ({
      ...one,
      against: isOther(meta, [...labels.slice(0, -2).flatMap(([, texts]) => texts), ...folders]),
    })),
  ]
}

/** Titles of reviews, rankings and advice. */
const OTHER_TITLE = new RegExp(
  [
    /\breview(?:$| ?[:|–-])|\bim (?:\p{L}{1,10})?test\b/u,
    /^(?:(?:the|die|les|de) (?:\d{1,3} )?|\d{1,3} )(?:best|besten?|meilleure?s?)\b|^top \d/u,
    /^the \d{1,3} (?!forest|protest|arrest|interest|west|guest|request|priest|test|contest)(?:\p{L}{1,20}est|most) /u,
    /^de \d{1,3} (?!eerste|laatste|vermiste|vaste|juiste|bewuste)(?:\p{L}{1,20}ste|meest) |^les \d{1,3} plus /u,
    // Best is a town, too, and `of` is Dutch, but hardly before a year.
    /\bthe best\b.{1,60} in 20\d\d\b|(?:^|\bthe )best\b.{1,60} of 20\d\d\b/u,
    /(?:^|[:–-] ?)\d{1,2} (?:\p{L}{1,12}[ -])?(?:tipps|tips|conseils|astuces)\b/u,
    /\bgifts? (?:guide|ideas?|for)\b|\bbuying guide\b/u,
  ]
    .map(({ source }) => source)
    .join('|'),
  'iu',
)
/** A German superlative. Nouns that end so begin with a capital letter. */
const SUPERLATIVE = /^Die \d{1,3} (?!ersten|vermissten|festen)\p{Ll}{1,20}sten /u
/** Longer ones are texts, in words. */
const LONGEST_LABEL = 4
/** Hosts that write one type for all that their users publish, and those of one writer. */
const PLATFORM = /(?:^|\.)(?:medium|substack)\.com$|^(?:blogs?|newsletter)\./

/** Whether labels name guides, recipes, events and the like: the general type then says nothing. */
function isOther({ titles, host }: PageMetadata, labels: string[]): string | null {
  const isLabelled = labels.some(label => {
    const folded = fold(oneLine(label))
    const words = folded.split(' ')
    const isOf = words.length <= LONGEST_LABEL && words.some(word => LABELS.others.includes(word))
    return isOf || LABELS.whole.includes(folded)
  })
  const isTitled = Object.values(titles).some(
    title => title !== null && (OTHER_TITLE.test(title) || SUPERLATIVE.test(title)),
  )
  return isLabelled || isTitled || PLATFORM.test(host) ? 'a label of something else' : null
}

function accessesOf({ free, classed, metas }: PageMetadata): Candidate<Access>[] {
  const tier = named(metas, ['article:content_tier'])[0]?.toLowerCase()
  const marked = named(metas, ['isaccessibleforfree'])[0]?.toLowerCase() ?? ''
  const of = (source: Candidate<Access>['source'], value: Access | null | undefined) =>
    value ? [{ source, value, against: null }] : []
  return [
    ...of('json-ld', free === null ? null : ACCESSES[free ? 0 : 1]),
    ...of('json-ld', classed.partly ? 'paid' : null),
    // A metered article is free for some readers and not for others.
    ...of('meta', tier === 'free' ? 'free' : tier === 'locked' ? 'paid' : null),
    ...of(
      'microdata',
      /^(?:true|1|yes)$/.test(marked) ? 'free' : /^(?:false|0|no)$/.test(marked) ? 'paid' : null,
    ),
  ]
}

/** Statements that contradict each other say nothing. */
const agreeing = <T>(candidates: Candidate<T>[]): Candidate<T>[] =>
  candidates.every(({ value }) => value === candidates[0]?.value)
    ? candidates
    : candidates.map(one => ({ ...one, against: 'the page says both' }))
