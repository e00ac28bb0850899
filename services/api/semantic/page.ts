import type { Queryable } from '../../../shared/postgres/pool.ts'
import { foldName } from '../../../shared/text/folding.ts'
import { nameArticles, type StoredArticle } from '../search/rows.ts'
import type { SemanticPage, SemanticPosition, SemanticQuery } from './query.ts'

/**
 * A page of a frozen set: of its candidates those that exist, lie within the plan's coverage and match the request's own filters
 * (decisions 13, 14, 26), in order (decisions 14, 22, 27), behind the page before. One statement: the candidates never leave
 * Postgres.
 *
 * @returns null when there is no such set any more
 */
export async function readPage(
  db: Queryable,
  setId: string,
  query: SemanticQuery,
  position: SemanticPosition | null,
): Promise<SemanticPage | null> {
  const { sort, order, perPage, countries, languages, hasAuthor, ingestedAfter, ...more }: AfterSet = query
  // The compiler refuses a filter that is added and applied nowhere.
  const { outlet: ofOutlet, author: ofAuthor, coverage, ...forgotten } = more
  void (forgotten satisfies Record<string, never>)
  const { historyStart, publishedAfter, publishedBefore } = coverage
  const [outlet, author] = [containing(ofOutlet), containing(ofAuthor)]
  const kind: Kind = { sort, order, outlet: outlet !== null, place: placeOf(position) }
  const values: unknown[] = [
    setId,
    perPage + 1,
    countries,
    languages,
    hasAuthor,
    author,
    historyStart.toISOString(),
    (publishedAfter ?? historyStart).toISOString(),
    publishedBefore && new Date(publishedBefore.at.getTime() + (publishedBefore.exclusive ? 0 : 1)).toISOString(),
    publishedAfter === null && publishedBefore === null,
    ingestedAfter?.toISOString() ?? null,
  ]
  if (kind.outlet) values.push(outlet)
  if (position !== null) values.push(position.last.id)
  if (kind.place === 'valued') values.push(position?.last.value)
  const { rows } = await db.query<Stored>({ name: nameOf(kind), text: statement(kind), values })
  const [first] = rows
  if (first === undefined) return null
  const found = rows.filter(isArticle)
  const shown = found.slice(0, perPage)
  const articles = await nameArticles(db, shown)
  const last = shown.at(-1)
  return {
    rows: articles.map((article, at) => ({ ...article, relevance: shown[at]!.relevance / 10_000 })),
    total: first.total,
    next: found.length > shown.length && last ? { setId, last: { value: last.value, id: last.id } } : null,
  }
}

/** What of a query is applied to a set; the rest has made it (`coverageOf`). */
type AfterSet = Omit<SemanticQuery, 'text' | 'planCountries'>

interface Placed extends StoredArticle {
  total: number
  /** × 10,000 */
  relevance: number
  /** What is sorted by. */
  value: number | null
}

/** A page without articles is one row that tells the total. */
type Stored = Placed | { total: number; seq: null }

const isArticle = (row: Stored): row is Placed => row.seq !== null

/** A pattern for LIKE in which `%`, `_` and `\` are ordinary characters (decision 15). */
function containing(part: string | null): string | null {
  return part === null ? null : `%${foldName(part).replace(/[\\%_]/g, '\\$&')}%`
}

/** What decides the text of the statement. */
interface Kind {
  sort: SemanticQuery['sort']
  order: 'asc' | 'desc'
  outlet: boolean
  place: Place
}

/** Whether a page comes first, behind an article with a sort value, or behind one without, which are last in both orders. */
type Place = 'first' | 'valued' | 'undated'

const placeOf = (position: SemanticPosition | null): Place =>
  position === null ? 'first' : position.last.value === null ? 'undated' : 'valued'

const nameOf = ({ sort, order, outlet, place }: Kind) => `semantic-page ${sort} ${order} ${outlet} ${place}`

// $1 set_id, $2 articles of a page and one, $3 countries, $4 languages, $5 has author, $6 pattern of authors, $7 history start,
// $8 published from (inclusive), $9 published to (exclusive; times have whole milliseconds), $10 whether articles without a date
// belong, $11 ingested from; then, where there are: pattern of outlets, id and value that the page before ended with.
// Indexes: the primary keys. A set answers new questions for five minutes, and the cursors given then for five more.
function statement({ sort, order, outlet, place }: Kind): string {
  const [pattern, id, value] = outlet ? ['$12', '$13', '$14'] : ['', '$12', '$13']
  // Equal relevances order by id in both orders (decision 27), equal times by id in the order's own direction.
  const [beyond, idOrder] =
    order === 'asc' ? ['>', sort === 'relevance' ? 'asc' : order] : ['<', sort === 'relevance' ? 'asc' : order]
  const beyondId = idOrder === 'asc' ? '>' : '<'
  const ahead = {
    first: 'true',
    valued: `(value ${beyond} ${value}::float8 or (value = ${value}::float8 and id ${beyondId} ${id}) or value is null)`,
    undated: `(value is null and id ${beyondId} ${id})`,
  }[place]
  return `
  with chosen as (
    select seqs, relevances from semantic_sets
    where set_id = $1 and made_at > clock_timestamp() - interval '10 minutes'
  ),
  found as materialized (
    select a.seq, a.id, c.relevance, a.published_at, a.ingested_at, a.publisher_no, a.author_nos, a.language, a.country,
      ${sort === 'relevance' ? 'c.relevance' : `(extract(epoch from a.${sort}) * 1000)`}::float8 as value
    from chosen, unnest(chosen.seqs, chosen.relevances) as c (seq, relevance)
    join articles a on a.seq = c.seq
    ${outlet ? `join publishers p on p.publisher_no = a.publisher_no and (p.folded_name like ${pattern} or p.folded_domain like ${pattern})` : ''}
    where a.country = any ($3::text[])
      and ($4::text[] is null or a.language = any ($4::text[]))
      and ($5::boolean is null or (cardinality(a.author_nos) > 0) = $5::boolean)
      and ($6::text is null or exists (
        select from authors w where w.author_no = any (a.author_nos) and w.folded_name like $6))
      and case
        when a.published_at is not null then
          a.published_at >= greatest($7::timestamptz, $8::timestamptz)
          and ($9::timestamptz is null or a.published_at < $9::timestamptz)
        else $10::boolean and a.ingested_at >= $7::timestamptz
      end
      and ($11::timestamptz is null or a.ingested_at >= $11::timestamptz)
      ${sort === 'ingested_at' ? 'and a.ingested_at is not null' : ''}
  ),
  page as (
    select * from found where ${ahead} order by value ${order} nulls last, id ${idOrder} limit $2
  )
  select (select count(*)::int from found) as total, page.*, t.title, t.url, t.snippet
  from chosen
  left join (page join article_texts t on t.seq = page.seq) on true
  order by page.value ${order} nulls last, page.id ${idOrder}`
}
