import { type Client, columnsOf, type Queryable } from '#shared/postgres/pool'

/**
 * The lines that the pages of one outlet share. Its numbers count pages, and decay, so that old
 * pages count less than new ones.
 */
export interface Template {
  pages: number
  /** The number of pages with each line, by the line's digest. */
  lines: Record<string, number>
}

export const EMPTY_TEMPLATE: Template = { pages: 0, lines: {} }

/** Fewest pages of an outlet from which boilerplate is recognised. */
const FEWEST_PAGES = 10
/**
 * A line is boilerplate when at least this many pages contain it, and at least this share of all
 * pages.
 */
const BOILERPLATE_PAGES = 5
const BOILERPLATE_SHARE = 0.3

export interface PartedParagraphs {
  own: string[]
  boilerplate: string[]
}

/**
 * Separates the boilerplate from a text. A text stays whole when more than two thirds of it are
 * boilerplate. It may be an article that resembles many others, such as a weather report. Or it is
 * an interstitial, which is recognised by its whole text.
 *
 * @returns its own paragraphs, and those that other pages of the outlet also contain
 */
export function partedBy(template: Template | null, paragraphs: string[]): PartedParagraphs {
  const boilerplate = paragraphs.filter(
    text => template !== null && isBoilerplate(template, digestOf(text)),
  )
  const own = paragraphs.filter(text => !boilerplate.includes(text))
  if (boilerplate.length === 0 || lengthOf(boilerplate) > 2 * lengthOf(own))
    return { own: paragraphs, boilerplate: [] }
  return { own, boilerplate }
}

const lengthOf = (paragraphs: string[]) => paragraphs.reduce((sum, text) => sum + text.length, 0)

function isBoilerplate({ pages, lines }: Template, digest: string): boolean {
  const count = lines[digest] ?? 0
  return pages >= FEWEST_PAGES && count >= BOILERPLATE_PAGES && count >= BOILERPLATE_SHARE * pages
}

/** The number of lines that are boilerplate at present. */
const boilerplateCount = (template: Template): number =>
  Object.keys(template.lines).filter(digest => isBoilerplate(template, digest)).length

/**
 * Paragraphs at either end of a text from which the template learns, because boilerplate stands
 * before and after the article.
 */
const AT_BEGINNING = 8
const AT_END = 12

/** The lesson of a page: the digests of its lines, without duplicates. */
export function lessonOf(paragraphs: string[]): string[] {
  const ends = [...paragraphs.slice(0, AT_BEGINNING), ...paragraphs.slice(-AT_END)]
  return [...new Set(ends.map(digestOf))]
}

/**
 * At this many pages, all counts are halved. So the lines of a new layout count as boilerplate
 * within as many pages.
 */
const HALVED_AT = 64
/**
 * The most lines of a template. They take about 4 kB. A line that only one page has stays for about
 * ten pages.
 */
const LINES = 250

/**
 * The template after one more page. Pure, so that the same pages in the same order give the same
 * template.
 */
export function learn(template: Template, lesson: string[]): Template {
  const lines = { ...template.lines }
  for (const line of lesson) {
    const count = lines[line] ?? 0
    // The line moves to the end, so that the oldest of the rare lines are dropped first.
    delete lines[line]
    lines[line] = count + 1
  }
  const learned = { pages: template.pages + 1, lines: bounded(lines) }
  return learned.pages < HALVED_AT ? learned : halved(learned)
}

function bounded(lines: Template['lines']): Template['lines'] {
  const all = Object.entries(lines)
  // Of equally common lines, the latest stay.
  const most = all.toReversed().sort(([, a], [, b]) => b - a)
  const kept = new Set(most.slice(0, LINES))
  return Object.fromEntries(all.filter(line => kept.has(line)))
}

function halved({ pages, lines }: Template): Template {
  const counts = Object.entries(lines).filter(([, count]) => count > 1)
  return {
    pages: Math.floor(pages / 2),
    lines: Object.fromEntries(counts.map(([line, count]) => [line, Math.floor(count / 2)])),
  }
}

/**
 * A short digest (FNV-1a, 32 bits) in letters, as `l1x9k2`. A key of digits alone would not keep
 * its place in an object. A collision costs one line of one outlet.
 */
function digestOf(text: string): string {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at += 1)
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return `l${(hash >>> 0).toString(36)}`
}

/**
 * The template learns from all of the first `ALL` pages of an outlet. After that it learns only
 * from every eighth page, by its number.
 */
const ALL = 64
const EVERY = 8n

/**
 * Whether the template learns from a page, after it has learnt from `taught` pages. Most pages cost
 * nothing.
 */
export const teaches = (pageNo: bigint, taught: number): boolean =>
  taught < ALL || pageNo % EVERY === 0n

interface Row {
  outlet_no: number
  pages: number
  template: Template
}

/**
 * Updates the templates of outlets with the lines of their pages. Call it in the transaction that
 * marks the pages as done, so that each page counts once. Rows are locked in order of the outlets.
 */
export async function teach(
  client: Client,
  pages: { outletNo: number; lesson: string[] | null }[],
): Promise<void> {
  const outlets = [
    ...new Set(pages.filter(({ lesson }) => lesson !== null).map(({ outletNo }) => outletNo)),
  ]
  outlets.sort((a, b) => a - b)
  if (outlets.length === 0) return
  const { rows } = await client.query<Row>(
    'select outlet_no, pages, template from outlet_templates where outlet_no = any ($1) order by outlet_no for update',
    [outlets],
  )
  const known = new Map(rows.map(row => [row.outlet_no, row]))
  const taught = outlets.map(outletNo => {
    const before = known.get(outletNo) ?? {
      outlet_no: outletNo,
      pages: 0,
      template: EMPTY_TEMPLATE,
    }
    const after = { ...before }
    for (const page of pages) {
      if (page.outletNo !== outletNo || page.lesson === null) continue
      after.template = learn(after.template, page.lesson)
      after.pages += 1
    }
    return after
  })
  // When two writers begin a template at the same time, the later one wins.
  await client.query(
    `insert into outlet_templates (outlet_no, pages, template)
     select outlet_no, pages, template::json from unnest($1::int[], $2::int[], $3::text[]) as t (outlet_no, pages, template)
      order by 1
     on conflict (outlet_no) do update set pages = excluded.pages, template = excluded.template`,
    [
      ...columnsOf(taught, 'outlet_no', 'pages'),
      taught.map(({ template }) => JSON.stringify(template)),
    ],
  )
}

/** The size of an outlet's template, for operators. */
export interface LearnedTemplate {
  /** All pages from which the template has ever learnt. */
  pages: number
  /** The number of lines that are left out of texts at present. */
  boilerplate: number
}

/** The sizes of all templates, by the domain of the outlet. */
export async function readTemplates(db: Queryable): Promise<Map<string, LearnedTemplate>> {
  const { rows } = await db.query<Row & { domain: string }>(
    'select domain, outlet_no, pages, template from outlet_templates join outlets using (outlet_no)',
  )
  return new Map(
    rows.map(({ domain, pages, template }) => [
      domain,
      { pages, boilerplate: boilerplateCount(template) },
    ]),
  )
}
