import { hash } from 'node:crypto'
import type { Country } from '#shared/articles/article'
import type { Queryable } from '#shared/postgres/pool'

/*
 * A citation proves by its digest that nothing is missing. Of an article that an operator took out
 * its line stays: id, times and a hash of what it said. Nothing else of it does.
 */

/** The parts of an article by which a citation knows that it has not changed. */
export interface Said {
  title: string
  outlet: { name: string | null; domain: string | null }
  language: string
  country: string
  authors: readonly { name: string }[]
}

/**
 * The hash of title, outlet, language, country and authors. The hash leaves out the snippet,
 * because an outlet may withdraw its snippet.
 */
export const saidHash = (said: Said): string => hash('sha256', saidText(said), 'hex')

/** The JSON that is hashed. */
export function saidText({ title, outlet, language, country, authors }: Said): string {
  const said = [
    title,
    outlet.name,
    outlet.domain,
    language,
    country,
    authors.map(({ name }) => name),
  ]
  return JSON.stringify(said)
}

/** SQL: the columns of `Said` of an article `a`, its texts `t` and its publisher `p`. */
export const SAID = `t.title, a.language, a.country, json_build_object('name', p.name, 'domain', p.domain) as outlet,
    coalesce((select json_agg(json_build_object('name', w.name) order by place)
                from unnest(a.author_nos) with ordinality n (no, place)
                join authors w on w.author_no = n.no), '[]') as authors`

/**
 * Computes the hashes of the articles that citations have.
 *
 * @param since reads the citations of the last hour alone. All of them may be read before writers
 *   have to wait, and then those that came meanwhile
 * @returns them in hex, by number
 */
export async function hashesOfCited(
  db: Queryable,
  seqs: bigint[],
  since: 'ever' | 'an hour',
): Promise<Map<bigint, string>> {
  const { rows } = await db.query<Said & { seq: bigint }>(CITED, [seqs, since === 'ever'])
  return new Map(rows.map(row => [row.seq, saidHash(row)]))
}

// $1 seqs, $2 whether all citations are read. Indexes: the primary keys.
const CITED = `
  with cited as materialized (
    select distinct n.seq from citations c, unnest(c.seqs) as n (seq)
     where case when $2 or c.cited_at > now() - interval '1 hour' then c.seqs && $1::bigint[] end and n.seq = any ($1::bigint[])
  )
  select a.seq, ${SAID}
    from cited join articles a using (seq) join article_texts t using (seq)
    join publishers p using (publisher_no)`

/** The line of an article that was taken out, in its parts. */
export interface BareLine {
  seq: bigint
  id: string
  ingested_at: string | null
  published_at: string | null
  h: string
  removed_at: string
  country: Country
}

/** The lines that stay of articles, by number. Articles that are there have none. */
export async function readBareLines(db: Queryable, seqs: bigint[]): Promise<Map<bigint, BareLine>> {
  const { rows } = await db.query<BareLine & Record<'ingested' | 'published' | 'removed', Date>>(
    BARE,
    [seqs],
  )
  const text = (time: Date | null) => time?.toISOString() ?? null
  return new Map(
    rows.map(({ ingested, published, removed, ...row }) => [
      row.seq,
      {
        ...row,
        ingested_at: text(ingested),
        published_at: text(published),
        removed_at: removed.toISOString(),
      },
    ]),
  )
}

// $1 seqs. Indexes: tombstones_seq_key, the primary key of articles.
const BARE = `
  select t.seq, t.id, t.country, encode(t.cited_hash, 'hex') as h, a.ingested_at as ingested,
         a.published_at as published, t.removed_at as removed
    from tombstones t join articles a using (seq)
   where t.seq = any ($1::bigint[]) and t.cited_hash is not null`

export const bareLineOf = ({
  id,
  ingested_at,
  published_at,
  h,
}: Pick<BareLine, 'id' | 'ingested_at' | 'published_at' | 'h'>): string =>
  [id, ingested_at ?? '', published_at ?? '', h].join('\t')

/** A sentence on the articles of a citation that were taken out; null: all are there. */
export async function removedSentence(
  db: Queryable,
  digest: string,
  articles: number,
): Promise<string | null> {
  const { rows } = await db.query<{ count: number; last: Date | null }>(REMOVED_OF, [digest])
  const { count = 0, last = null } = rows[0] ?? {}
  if (last === null) return null
  const day = last.toISOString().slice(0, 10)
  return `Articles that were taken out: ${count} of ${articles}, the last on ${day}.`
}

// $1 digest. Index: tombstones_seq_key.
const REMOVED_OF = `
  select count(*)::int as count, max(removed_at) as last from tombstones
   where seq in (select unnest(seqs) from citations where digest = decode($1, 'hex'))`
