import type { Queryable } from '#shared/postgres/pool'
import type { Known } from './oracle.ts'

type Row = Omit<Known, 'addresses' | 'publishedAt' | 'ingestedAt' | 'outlet'> &
  Known['outlet'] & { published_at: Date | null; ingested_at: Date | null }

/** Articles above `after`, as the oracle sees them, in the order in which they became visible. */
export async function readKnown(db: Queryable, after: bigint): Promise<Known[]> {
  const { rows } = await db.query<Row>(
    `select a.seq, a.id, t.url, t.title, t.body, a.published_at, a.ingested_at, p.name, p.domain, a.language, a.country,
            json_build_object('section', a.section, 'kind', a.kind, 'access', a.access) as stated,
            array(select w.name from unnest(a.author_nos) with ordinality as n (no, place)
                  join authors w on w.author_no = n.no order by n.place) as authors,
            array(select d.domain from outlet_domains d
                   where d.first = (select w.first from outlet_domains w where w.domain = p.outlet)) as domains
     from articles a join article_texts t on t.seq = a.seq join publishers p on p.publisher_no = a.publisher_no
     where a.seq > $1::bigint order by a.seq`,
    [after],
  )
  return rows.map(({ published_at, ingested_at, name, domain, ...row }) => ({
    ...row,
    addresses: [],
    publishedAt: published_at,
    ingestedAt: ingested_at,
    outlet: { name, domain },
  }))
}
