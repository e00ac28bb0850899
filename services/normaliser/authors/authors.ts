import { bestOf, type Candidate, type Choice, choiceOf } from '#services/normaliser/candidate'
import { findDates } from '#services/normaliser/dates/written'
import { anyOf } from '#services/normaliser/languages/index'
import { fold, foldedNames } from '#services/normaliser/markup/plain'
import { isWithin } from '#services/normaliser/markup/tree'
import type { Mark } from '#services/normaliser/metadata/marks'
import type { PageMetadata } from '#services/normaliser/metadata/metadata'
import { named } from '#services/normaliser/metadata/signs'
import type { Outlet } from '#shared/outlets/catalogue'
import type { Source } from '#shared/outlets/origins'
import type { FeedEntry } from '#shared/outlets/page'
import { foldOutlet, isAgency, isOffice, peopleIn } from './person-names.ts'

/*
 * Pages name their authors in many ways, and also name other people. Each source gives a list of
 * candidates, in order of trust. The first candidate with a person counts, and doubtful names are
 * left out.
 */

/** The most people in a byline. A statement with more people is a list of staff. */
const MOST = 20
/** The most statements of one source that are read. Real feeds and structured data have fewer. */
const STATEMENTS = 50

/**
 * The people who wrote the article, as the outlet names them and in its order (decision 35). The
 * first source that names a person counts: structured data, meta tags, the feed, the byline on the
 * page. Doubtful names are left out. Null when no source names a person.
 */
export function authorChoice(
  meta: PageMetadata,
  entry: FeedEntry | null,
  outlet: Pick<Outlet, 'name' | 'domain'>,
): Choice<string[]> | null {
  const { stated, shown } = authorCandidates(meta, entry, outlet)
  const best = bestOf(stated) ?? bestOf(shown())
  return best === null ? null : choiceOf(best, stated, isSameGroup)
}

/** The candidates for authors, in order of rank. */
interface AuthorCandidates {
  stated: Candidate<string[]>[]
  /**
   * The candidates from the markup of the page. They rank last, and the generator looks for them
   * only on request.
   */
  shown(): Generator<Candidate<string[]>>
}

export function authorCandidates(
  meta: PageMetadata,
  entry: FeedEntry | null,
  outlet: Pick<Outlet, 'name' | 'domain'>,
): AuthorCandidates {
  const own = ownNames(meta, outlet)
  const people = (statements: string[]) =>
    distinct(statements.slice(0, STATEMENTS).flatMap(statement => peopleIn(statement, own)))
  const accounts = new Set(
    meta.authors.structured.filter(author => author.account).map(author => fold(author.name)),
  )
  const withoutAccounts = (names: string[]) => names.filter(name => !accounts.has(fold(name)))
  const shown = (names: string[]) =>
    names.filter(name => !accounts.has(fold(name)) || isShown(meta, name))
  const persons = meta.authors.structured.filter(author => !author.organisation)
  const marks = meta.marks.filter(isByline)

  const stated = people(persons.filter(author => !author.account).map(author => author.name))
  const tagged = people(meta.authors.meta)
  const fed = people(entry?.authors ?? [])
  const spoken = people(spokenBylines(meta)).filter(name => !isPhrase(name))
  const posted = shown(people(persons.filter(author => author.account).map(author => author.name)))
  const statements = [
    ...meta.authors.meta.slice(0, STATEMENTS),
    ...(entry?.authors ?? []).slice(0, STATEMENTS),
  ].map(statement => people([statement]))
  const near = () => marks.filter(mark => isNear(mark.line, meta.headline))
  const signed = () => marks.filter(mark => mark.by !== 'class' || SIGNED.test(mark.text))
  const candidates = (source: Source, names: string[]): Candidate<string[]>[] =>
    names.length === 0
      ? []
      : [
          {
            source,
            value: names.map(name => asShown(name, marks)),
            against: names.length > MOST ? STAFF : null,
          },
        ]
  return {
    stated: [
      ...candidates('json-ld', fuller(stated, statements)),
      ...(posted.length > 0 && spoken.length > 0
        ? candidates('line', spoken)
        : candidates('account', posted)),
      ...candidates('meta', withoutAccounts(tagged)),
      ...candidates('feed', withoutAccounts(fed)),
      ...candidates('line', spoken),
    ],
    *shown() {
      yield* candidates('markup', people(bylines(near(), own)))
      yield* candidates('line', people(besideDates(meta)))
      yield* candidates('feed', fed)
      yield* candidates('markup', people(bylines(signed(), own)))
      yield* candidates('box', people(boxes(meta)))
    },
  }
}
const STAFF = `more than ${MOST} names, as in a list of staff`

/** Words in lower case in a line of the page: "Door hevige regen". A single one is a nickname. */
const isPhrase = (name: string): boolean => /\s/.test(name) && name === name.toLowerCase()

function isSameGroup(a: string[], b: string[]): boolean {
  const names = new Set(a.map(fold))
  return a.length === b.length && b.every(name => names.has(fold(name)))
}

/**
 * The outlet's name, its domain, and the page's names for its site; folded, with and without
 * spaces.
 */
function ownNames(meta: PageMetadata, outlet: Pick<Outlet, 'name' | 'domain'>): Set<string> {
  const { host } = meta
  const label = (domain: string) => domain.split('.').at(-2) ?? ''
  const { name, domain } = outlet
  const names = [name, domain, label(domain), host, label(host), ...meta.siteNames]
  return foldedNames(names.map(foldOutlet))
}

/**
 * Replaces a byline by a fuller statement, which names all of its people and more. Structured data
 * often contain only a part of the byline.
 */
function fuller(names: string[], statements: string[][]): string[] {
  const has = (list: string[], name: string) => list.some(other => fold(other) === fold(name))
  const whole = statements.find(
    list => list.length > names.length && names.every(name => has(list, name)),
  )
  return names.length > 0 && whole !== undefined ? whole : names
}

/**
 * Bylines by markup, at most two lines below the first one. An element around other bylines counts
 * only when it names more people.
 */
function bylines(marks: Mark[], own: ReadonlySet<string>): string[] {
  const named = marks.filter(mark => peopleIn(textOf(mark), own).length > 0)
  const first = named[0]
  if (first === undefined) return []
  const together = named.filter(mark => mark.line - first.line <= 2)
  const inside = (outer: Mark) =>
    together.filter(mark => mark !== outer && isWithin(mark.element, outer.element))
  return together
    .filter(mark => {
      const inner = inside(mark).flatMap(each => peopleIn(textOf(each), own))
      const outer = peopleIn(textOf(mark), own)
      return (
        inner.length === 0 ||
        (outer.length > new Set(inner).size && inner.every(name => outer.includes(name)))
      )
    })
    .map(textOf)
}

const textOf = (mark: Mark): string => mark.value ?? mark.text

const isByline = (mark: Mark): boolean =>
  mark.kind === 'author' && !mark.aside && !NO_BYLINE.test(mark.hints)

const NO_BYLINE =
  /(?:^|[\s_-])(?:comment\w*|avatar|image\w*|media\w*|licen[sc]e|photo\w*|foto\w*|caption|bio|box|social|related|category|categories|tags)(?:$|[\s_-])/
const SIGNED = new RegExp(
  String.raw`^(?:${anyOf(rules => rules.authors.byWords)}|${anyOf(rules => rules.authors.authorLabels)})\s?:?\s`,
  'i',
)

/** The first line of a box about the author behind the article, unless it is a sentence. */
function boxes(meta: PageMetadata): string[] {
  const box = meta.marks.find(
    mark =>
      mark.kind === 'author' &&
      !mark.aside &&
      /author|auteur|autor/.test(mark.hint) &&
      /bio|box|info|about/.test(mark.hint),
  )
  const line = box === undefined ? undefined : meta.lines[box.line]
  return line !== undefined && line.text.length <= 40 ? [line.text] : []
}

/**
 * Whether readers see the name as a byline. Prose, navigation and the copyright notice do not
 * count.
 */
function isShown(meta: PageMetadata, name: string): boolean {
  const wanted = ` ${fold(name)} `
  return meta.lines.some(
    line =>
      line.text.length <= 80 && !line.text.includes('©') && ` ${fold(line.text)} `.includes(wanted),
  )
}

/** The name of an account (`annaweber`) in the spelling of the byline (`Anna Weber`). */
function asShown(name: string, marks: Mark[]): string {
  if (name !== name.toLowerCase() || name.includes(' ')) return name
  const spelt = marks
    .map(mark => textOf(mark).replace(SIGNED, ''))
    .find(
      text => text !== name && fold(text).replaceAll(' ', '') === fold(name).replaceAll(' ', ''),
    )
  return spelt ?? name
}

function distinct(names: string[]): string[] {
  const seen = new Set<string>()
  return names.filter(name => {
    const key = fold(name)
    return key !== '' && !seen.has(key) && seen.add(key)
  })
}

/** How many lines after the headline, and before it, may hold a name beside a date. */
const BEHIND_A_DATE = 5
const BEFORE_DATE = 2
/** Longest line that holds a name and a date, in characters. */
const LENGTH = 80

/** A full name, each of its words with a capital. */
const NAME_BESIDE = String.raw`\p{Lu}[\p{L}\p{M}.'’-]+(?:\s(?:van|von|de|der|den|le|la|di|ten|ter)){0,2}(?:\s\p{Lu}[\p{L}\p{M}.'’-]*){1,2}`
const ALONE = new RegExp(`^${NAME_BESIDE}$`, 'u')
const AT_START = new RegExp(String.raw`^(${NAME_BESIDE})\s[|·•–—-]\s`, 'u')

/**
 * Names without a label that stand beside the date, close to the headline: "Anna Weber", then
 * "3.11.2026"; "Anna Weber – 3.11.2026". At most one.
 */
function besideDates(meta: PageMetadata): string[] {
  const { lines, headline } = meta
  if (headline === null) return []
  const from = Math.max(0, headline - BEFORE_DATE)
  for (let at = from; at <= headline + BEHIND_A_DATE && at < lines.length; at += 1) {
    const text = lines[at]?.text ?? ''
    if (at === headline || lines[at]?.aside || text.length > LENGTH) continue
    const name = at > headline && ALONE.test(text) ? aboveDate(meta, at) : beforeDate(text)
    if (name !== null && !isTopic(meta, name)) return [name]
  }
  return []
}

function aboveDate({ lines }: PageMetadata, at: number): string | null {
  const below = lines[at + 1]
  return below !== undefined && !below.aside && isDateLine(below.text) ? lines[at]!.text : null
}

const beforeDate = (text: string): string | null =>
  isDated(text) ? (AT_START.exec(text)?.[1] ?? null) : null

/** Whether a text is in the headline, or a section of the page: "Den Haag", "Champions League". */
function isTopic({ titles, classed, metas, path }: PageMetadata, text: string): boolean {
  const topic = fold(text)
  const sections = [
    ...classed.sections,
    ...classed.marked,
    ...classed.trails.flatMap(({ crumbs }) => crumbs.map(({ name }) => name)),
    ...named(metas, ['article:section']),
    ...path.split('/').filter((_, at, folders) => !AUTHORS.test(folders[at - 1] ?? '')),
  ]
  return (
    ` ${fold(titles.headline ?? '')} `.includes(` ${topic} `) ||
    sections.some(section => fold(section) === topic)
  )
}

/** A folder of an address with a folder for each author. */
const AUTHORS = new RegExp(`^${anyOf(rules => rules.markup.authors)}$`)

const isDated = (text: string) => /\d/.test(text) && findDates(text).length > 0

/** Whether a line holds only a date, perhaps with a weekday and a time. */
function isDateLine(text: string): boolean {
  const [date] = text.length > DATE_LENGTH || !/\d/.test(text) ? [] : findDates(text)
  return date !== undefined && date.index <= WEEKDAY && !date.modified
}
const DATE_LENGTH = 45
const WEEKDAY = 20

/** How many lines after the headline, and before it, may hold a byline. */
const BEHIND = 12
const BEFORE = 4

/** Longest byline, in characters. */
const BYLINE_LENGTH = 120

const NAME = String.raw`(\p{L}[\p{L}\p{M}\d_.'’ ,&()-]{1,80})`

const BY = anyOf(rules => rules.authors.byWords)

/**
 * Bylines near the headline: "Von Anna Weber", "Door: Jan Smit", "Ein Artikel von Anna Weber |
 * 3.11.2026".
 */
const OPENING = new RegExp(
  String.raw`^(?:${anyOf(rules => rules.authors.indefiniteArticles)}\s)?(?:${anyOf(rules => rules.authors.openings)}\s)?${BY}\s?:?\s${NAME}`,
  'iu',
)

/**
 * Bylines near the headline, after a date or a label: "Gepubliceerd op 3 november 2026 door Jan
 * Smit", "3.11.2026 14:05 von Anna Weber", "Redaktion: Anna Weber".
 */
const BEHIND_DATE = new RegExp(
  String.raw`(?:${anyOf(rules => rules.authors.publishedVerbs)}\b[^.]{0,60}\s${BY}|(?:19|20)\d{2}[\s\d:.,–|-]{0,20}${anyOf(rules => rules.dates.hours)}?\s*${BY}|(?:^|[-–—|]\s)${anyOf(rules => rules.authors.textLabels)}\s?(?=:))\s?:?\s${NAME}`,
  'iu',
)

const AUTHOR = anyOf(rules => rules.authors.authorLabels)

/**
 * Bylines anywhere in the article: "Autorin: Anna Weber, Korrespondentin"; in a list,
 * "Autorin/Autor Anna Weber".
 */
const SIGNED_LINE = new RegExp(
  String.raw`^(?:${AUTHOR}(?:/${AUTHOR})?(?:\s?:\s(?:${BY}\s)?|\s(?=(?-i:${NAME_BESIDE})$))|${anyOf(rules => rules.authors.writtenVerbs)}\s${BY}\s)${NAME}`,
  'iu',
)

/** Bylines in the text of the page, recognised by their words instead of markup. */
function spokenBylines(meta: PageMetadata): string[] {
  const lines = meta.lines
    .map((line, index) => ({ ...line, index }))
    .filter(line => !line.aside && line.text.length <= BYLINE_LENGTH)
  const near = lines.filter(line => isNear(line.index, meta.headline))
  const spoken = near.flatMap(
    line => nameIn(OPENING, line.text) ?? nameIn(BEHIND_DATE, line.text) ?? [],
  )
  const shared = near.flatMap(line => (withAgency(line.text) ? [line.text] : []))
  if (spoken.length + shared.length > 0) return [...spoken, ...shared].slice(0, 1)
  const title = meta.titles.headline ?? ''
  return lines
    .flatMap(line => nameIn(SIGNED_LINE, line.text) ?? [])
    .filter(name => !title.startsWith(name.slice(0, 12)))
    .slice(0, 1)
}

export const isNear = (line: number, headline: number | null): boolean =>
  headline === null || (line !== headline && line >= headline - BEFORE && line <= headline + BEHIND)

/**
 * Whether a line is a byline without a label that names a person and an agency: "Peter Maahn/SP-X",
 * "Jan Smit (ANP)".
 */
function withAgency(line: string): boolean {
  const [, name, agency] =
    /^(\p{Lu}[\p{L}.'’-]+(?:\s[\p{L}.'’-]+){1,3})\s*[/,(]\s*([\p{L}-]{2,30})\)?$/u.exec(line) ?? []
  return name !== undefined && agency !== undefined && isAgency(agency) && !isOffice(name)
}

/** The text after the label, up to a date or a place. */
function nameIn(label: RegExp, line: string): string | null {
  const name = label
    .exec(line)?.[1]
    ?.replace(/\s[-–—]\s.*$/u, '')
    .trim()
  return name !== undefined && name !== '' ? name : null
}
