import { addressHash, firstDomain } from '#search/removals'
import { LEDGER_DAYS } from '#shared/outlets/back-fills'
import { NAMED_ADDRESSES, SAMPLES } from '#shared/removals/samples'
import { findFaults, type Looking } from './report.ts'

/*
 * Looks for what the house still has of articles that were taken out, for addresses that an
 * outlet has by a later domain, and for sums of ledgers that do not hold. The engine compares their
 * tombstones (`search/store/postgres-checks.ts`). Where there is one, the addresses of all pages
 * are hashed.
 */

/** SQL: nothing has changed in the ledger of a back-fill `b` since its days were counted. */
const IS_COUNTED = `
  not exists (select from back_days d where d.outlet_no = b.outlet_no and reasons is null) and greatest(moved_at, (select max(removed_at) from tombstones), (
    select max(case when p.state in ('waiting', 'stored') then 'infinity' else finished_at end)
      from pages p where p.outlet_no = b.outlet_no and named_by & 4 > 0)) < counted_at - interval '10 minutes'`

const FAULTS = `
  select 'removed' as kind, 'article ' || s.seq || ' was taken out, and has a sketch' as text
    from copy_sketches s join tombstones using (seq) where s.first_seq is not null or s.sample is not null
  union all
  select 'removed', 'article ' || t.seq || ' was taken out, and has rights' from article_rights r join tombstones t using (id)
  union all
  select 'removed', 'message ' || message_id || ' waits to tell of an article that was taken out'
    from alert_messages m where delivered_at is null and kind = 'articles' and exists (select from tombstones t where t.seq = any (m.seqs))
  union all
  select 'removed', 'page ' || page_no || ' is of article ' || t.seq || ', which was taken out'
    from pages p join outlets o using (outlet_no) cross join tombstone_key k
    join tombstone_addresses t on t.hash = ${addressHash(firstDomain('lower(o.domain)'), 'p.crawl_key')}
   where exists (select from tombstone_addresses)
  union all
  select 'removed', 'an address that a sitemap of ' || o.domain || ' named is of article ' || t.seq || ', which was taken out'
    from ${NAMED_ADDRESSES} b join outlets o using (outlet_no) cross join tombstone_key k
    join tombstone_addresses t on t.hash = ${addressHash(firstDomain('lower(o.domain)'), 'b.crawl_key')}
   where exists (select from tombstone_addresses)
  union all
  select 'removed', 'the planner has samples of ' || place || coalesce(' with an address of article ' || seq || ', which was taken out', ', which is to have none')
    from (${SAMPLES}) s where seq is null or exists (select from tombstones t where t.seq = s.seq and cleared_at is not null)
  union all
  select 'past', 'the sums of the past of ' || o.domain || ' differ from its ledger on ' || count(distinct day) || ' days'
    from ((table back_days except all ${LEDGER_DAYS}) union all (${LEDGER_DAYS} except all table back_days)) d
    join back_fills b using (outlet_no) join outlets o using (outlet_no)
   where ${IS_COUNTED} group by o.domain
  union all
  select 'identity', 'address ' || address || ' is of ' || outlet || ', whose articles are known by ' || first
    from outlet_domains d join article_addresses a on a.outlet = d.domain where d.domain <> d.first
  union all
  select 'identity', 'domain ' || domain || ' is said to be of ' || first || ', which is no first domain'
    from outlet_domains d where not exists (select from outlet_domains f where f.domain = d.first and f.first = d.first)
  union all
  select 'identity', 'the page of ' || id || ' was asked for again, and no article has this id and number' from second_looks l
   where not exists (select from article_ids i where i.id = l.id) or exists (select from tombstones t where t.id = l.id)
      or exists (select from articles a where a.seq = l.seq and a.id <> l.id)
  union all
  select 'copies', 'the group of article ' || seq || ' waits to be found, and it is not there'
    from copies_due d where not exists (select from articles a where a.seq = d.seq)
  union all
  select 'vectors', 'articles are embedded, and no collection serves'
   where exists (select from embeddings where embedded_at is not null)
     and not exists (select from vector_collections where state = 'serving')
  union all
  select 'citations', 'article ' || t.seq || ' is cited, was taken out, and left no hash'
    from tombstones t where cited_hash is null and exists (select from citations c where t.seq = any (c.seqs))`

export const verifyRemovals = ({ pool, report }: Looking): Promise<void> =>
  findFaults(pool, report, FAULTS)
