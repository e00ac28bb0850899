import type { Client, Queryable } from '../postgres/pool.ts'

/** The fields of an article whose origin is kept, in the order in which they are stored. */
export const FIELDS = ['title', 'date', 'authors', 'text', 'language'] as const
export type Field = (typeof FIELDS)[number]

/**
 * The places from which a field may be read, each with the letter under which it is stored. A
 * letter is never given to another source: rows of former versions keep it.
 */
const SOURCES = {
  'json-ld': 'j',
  /** The account that posted, which publishing software states in JSON-LD. */
  account: 'a',
  meta: 'm',
  microdata: 'i',
  feed: 'f',
  /** The summary of the feed's entry, where the feed holds no whole text. */
  summary: 's',
  /** An element of the page, chosen by its name: a headline, a by-line, a `time`. */
  markup: 'e',
  /** A line of the page, chosen by its words. */
  line: 'l',
  /** A meta tag that does not say which date it holds. */
  'vague meta': 'v',
  /** The document's title in its head. */
  document: 'd',
  address: 'u',
  script: 'c',
  /** A box about the author. */
  box: 'b',
  /** The text on the page. */
  page: 'p',
  /** The words of the text itself. */
  words: 'w',
  /** The catalogue's entry of the outlet. */
  outlet: 'o',
  none: '-',
} as const
export type Source = keyof typeof SOURCES

/**
 * `confirmed`: another source says the same. `stated`: the outlet wrote it for machines. `guessed`:
 * read off the wording or the look of the page.
 */
const SURENESS = ['guessed', 'stated', 'confirmed'] as const
type Sureness = (typeof SURENESS)[number]

export interface Origin {
  source: Source
  sure: Sureness
}

/** Where the fields of an article came from. */
export type Origins = Record<Field, Origin>

/** Two characters a field: the letter of its source, and 1 to 3 for its sureness. */
export const writeOrigins = (origins: Origins): string =>
  FIELDS.map(field => `${SOURCES[origins[field].source]}${SURENESS.indexOf(origins[field].sure) + 1}`).join('')

/** Null for a text that is not of this form. */
export function readOrigins(written: string): Origins | null {
  const [title, date, authors, text, language] = FIELDS.map((_, at) => readOrigin(written.slice(at * 2, at * 2 + 2)))
  return title && date && authors && text && language ? { title, date, authors, text, language } : null
}

function readOrigin(pair: string): Origin | null {
  const source = Object.keys(SOURCES).find(name => isSource(name) && SOURCES[name] === pair.charAt(0))
  const sure = SURENESS[Number(pair.slice(1)) - 1]
  return source === undefined || !isSource(source) || sure === undefined ? null : { source, sure }
}

export const isSource = (name: string): name is Source => name in SOURCES

/**
 * Counts the origins of new articles by outlet and day. Call it in the transaction that indexes the
 * articles. Rows are written in the order of the key, so that two writers cannot deadlock.
 */
export async function countOrigins(client: Client, articles: { outletNo: number; origins: Origins }[]): Promise<void> {
  if (articles.length === 0) return
  const named = articles.flatMap(({ outletNo, origins }) =>
    FIELDS.map(field => ({ outletNo, field, source: origins[field].source })),
  )
  await client.query(
    `insert into outlet_origins as o (outlet_no, day, field, source, articles)
     select outlet_no, (clock_timestamp() at time zone 'UTC')::date, field, source, count(*)
       from unnest($1::int[], $2::text[], $3::text[]) as n (outlet_no, field, source)
      group by 1, 2, 3, 4 order by 1, 2, 3, 4
     on conflict (outlet_no, day, field, source) do update set articles = o.articles + excluded.articles`,
    [named.map(({ outletNo }) => outletNo), named.map(({ field }) => field), named.map(({ source }) => source)],
  )
}

/** Days for which counts are kept: `origin-shares.ts` compares a week. */
const KEPT = 30

export async function removeOldCounts(db: Queryable): Promise<void> {
  await db.query(`delete from outlet_origins where day < (now() at time zone 'UTC')::date - $1::int`, [KEPT])
}
