import { type Client, columnsOf, type Queryable } from '#shared/postgres/pool'

/** The fields of an article whose origins are kept, in the order of storage. */
export const FIELDS = ['title', 'date', 'authors', 'text', 'language'] as const
export type Field = (typeof FIELDS)[number]

/**
 * The sources of a field, each with the letter that is stored for it. A letter is never reused,
 * because rows of earlier versions still have it.
 */
const SOURCES = {
  'json-ld': 'j',
  /** The account that posted the article, which publishing software states in JSON-LD. */
  account: 'a',
  meta: 'm',
  microdata: 'i',
  feed: 'f',
  /** The summary of the feed's entry, if the feed does not have the whole text. */
  summary: 's',
  /** An element of the page, recognised by its name: a headline, a by-line, a `time`. */
  markup: 'e',
  /** A line of the page, recognised by its words. */
  line: 'l',
  /** A meta tag that does not say which of the article's dates it has. */
  'vague meta': 'v',
  /** The title in the document's head. */
  document: 'd',
  address: 'u',
  script: 'c',
  /** A box about the author on the page. */
  box: 'b',
  /** The article's text on the page. */
  page: 'p',
  /** The words of the article's text, from which the language is found. */
  words: 'w',
  /** The catalogue's entry of the outlet. */
  outlet: 'o',
  none: '-',
} as const
export type Source = keyof typeof SOURCES

/**
 * `confirmed`: another source gives the same value. `stated`: the outlet wrote the value for
 * machines. `guessed`: the value comes from the wording or the layout of the page.
 */
const SURENESS = ['guessed', 'stated', 'confirmed'] as const
type Sureness = (typeof SURENESS)[number]

export interface Origin {
  source: Source
  sure: Sureness
}

/** The origin of each field of an article. */
export type Origins = Record<Field, Origin>

/** Writes two characters for each field: the letter of its source, then 1 to 3 for its sureness. */
export const writeOrigins = (origins: Origins): string =>
  FIELDS.map(
    field => `${SOURCES[origins[field].source]}${SURENESS.indexOf(origins[field].sure) + 1}`,
  ).join('')

/** Reads what `writeOrigins` wrote; null for any other text. */
export function readOrigins(written: string): Origins | null {
  const [title, date, authors, text, language] = FIELDS.map((_, at) =>
    readOrigin(written.slice(at * 2, at * 2 + 2)),
  )
  return title && date && authors && text && language
    ? { title, date, authors, text, language }
    : null
}

function readOrigin(pair: string): Origin | null {
  const source = Object.keys(SOURCES).find(
    name => isSource(name) && SOURCES[name] === pair.charAt(0),
  )
  const sure = SURENESS[Number(pair.slice(1)) - 1]
  return source === undefined || !isSource(source) || sure === undefined ? null : { source, sure }
}

export const isSource = (name: string): name is Source => name in SOURCES

/**
 * Counts the origins of new articles by outlet and day. The caller runs this in the transaction
 * that indexes the articles. Rows are written in the order of the key, so that two writers cannot
 * deadlock.
 */
export async function countOrigins(
  client: Client,
  articles: { outletNo: number; origins: Origins }[],
): Promise<void> {
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
    columnsOf(named, 'outletNo', 'field', 'source'),
  )
}

/** How many days counts are kept. `origin-shares.ts` needs a week. */
const KEPT = 30

export async function removeOldCounts(db: Queryable): Promise<void> {
  await db.query(
    `delete from outlet_origins where day < (now() at time zone 'UTC')::date - $1::int`,
    [KEPT],
  )
}
