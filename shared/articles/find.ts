import { addressHash, type Doomed, firstDomain } from '#search/removals'
import { addressKey, readAddress } from '#shared/articles/address'
import type { Queryable } from '#shared/postgres/pool'

/** What names an article: the id that it may have, `word` by default, and the key of an address. */
interface Named {
  word: string
  id?: string
  key: string | null
}

/** What a word names: an id, an address, also without its scheme, or our own page of an article. */
export function namedBy(word: string): Named {
  const url = readAddress(/^https?:/i.test(word) ? word : `https://${word}`)
  const [, id = word] = url?.pathname.match(/^\/a\/(\w{24})$/) ?? []
  return { word, id, key: url === null ? null : addressKey(url) }
}

/** Finds articles, also those that were taken out. @returns `unknown`: words that name none */
export async function findArticles(
  db: Queryable,
  named: Named[],
): Promise<{ found: Doomed[]; unknown: string[] }> {
  const found = new Map<bigint, Doomed>()
  const unknown: string[] = []
  for (const { word, id = word, key } of named) {
    const { rows } = await db.query<Doomed>(FIND, [id, key])
    for (const row of rows) found.set(row.seq, row)
    if (rows.length === 0) unknown.push(word)
  }
  return { found: [...found.values()], unknown }
}

// $1 id, $2 address key. Indexes: copy_sketches_id, tombstones_id_key; the primary keys.
const FIND = `
  with ids as (
    select id from article_ids where id = $1
    union
    select a.id from publishers p join article_addresses a on a.outlet = ${firstDomain('p.outlet')} and a.address = $2
  )
  select a.seq, a.id from articles a where a.seq in (
    select s.seq from ids join copy_sketches s using (id)
    union all
    select n.seq from articles n join ids using (id) where n.seq > (select seq from copies_state)
    union all
    select seq from tombstones where id = $1
    union all
    select b.seq from publishers p cross join tombstone_key k
      join tombstone_addresses b on b.hash = ${addressHash(firstDomain('p.outlet'), '$2::text')})`
