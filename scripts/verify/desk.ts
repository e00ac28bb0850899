import { createPace } from '#search/index'
import { timeZoneNamed } from '#search/query/calendar'
import { citationDigest, headOf, markOf } from '#services/api/citations/citation'
import { ApiError } from '#services/api/contract/errors'
import { readSearch } from '#services/api/contract/request'
import { forgedSets } from '#services/api/semantic/candidate-sets'
import { COUNTRIES, type Country } from '#shared/articles/article'
import { WHEN } from '#shared/desk/alerts/messages'
import { isWhen } from '#shared/desk/alerts/times'
import { feedsWithoutAddress } from '#shared/desk/feeds'
import { foldedSet } from '#shared/desk/outlet-sets'
import { describe } from '#shared/log/printable'
import { type Pool, readColumn, readRow, transaction } from '#shared/postgres/pool'
import { readLines } from './cited-lines.ts'
import { findFaults, type Kind, type Looking } from './report.ts'

/* Compares what keys keep: searches, feeds, alerts, citations, and the secrets behind them. */

const CLOCK = 'ingest_clock'

// The tables are small: a key keeps at most 200 searches. A secret has 256 bits. An alert looks
// again within a week, and a message is tried again within a day.
const FAULTS = `
  select 'feeds' as kind, 'the key of ' || feed_id || ' is not there' as text
    from search_feeds f where revoked_at is null and not exists (select from api_keys k where k.id = f.key_id)
  union all
  select 'feeds', feed_id || ' has another search or title than its kept search'
    from search_feeds f join kept_searches k using (search_id)
   where revoked_at is null and (f.search, f.title, f.key_id) is distinct from (k.search, k.name, k.key_id)
  union all
  select 'alerts', alert_id || ' is told up to ' || seq || ' at ' || at || ', and the clock is at ' || last_seq || ', ' || last_at
    from search_alerts, ${CLOCK} where seq > last_seq or at > last_at
  union all
  select 'alerts', alert_id || ' is of another key than its search'
    from search_alerts a join kept_searches k using (search_id) where a.key_id <> k.key_id
  union all
  select 'alerts', alert_id || ' is told up to ' || p.seq || ', and its time is of a later article'
    from search_alerts p join articles next on next.seq = p.seq + 1 and not next.own_time
   where next.ingested_at <= p.at
  union all
  select 'alerts', m.message_id || ' of ' || m.alert_id || ' tells of articles that are not there, or of none up to its place'
    from alert_messages m join search_alerts a using (alert_id), ${CLOCK}
   where m.kind = 'articles' and m.delivered_at is null
     and (m.more < 0 or m.found not between cardinality(m.seqs) and m.seq - a.seq + 1 or m.seq is null or m.seq > last_seq or m.at > last_at
       or exists (select from unnest(m.seqs) told (seq) where told.seq > m.seq
                     or not exists (select from articles a where a.seq = told.seq)))
  union all
  select 'alerts', message_id || ' of ' || alert_id || ' tells a removal that is not there'
    from alert_messages m where kind = 'removed' and delivered_at is null
     and exists (select from unnest(seqs) told (seq) where not exists (select from tombstones t where t.seq = told.seq))
  union all
  select 'alerts', m.message_id || ' of ' || m.alert_id || ' would move its place back'
    from alert_messages m join search_alerts a using (alert_id)
   where m.kind = 'articles' and m.delivered_at is null and m.seq < a.seq
  union all
  select 'alerts', alert_id || ' has found articles that are not there, or are beyond its place'
    from alert_finds f, ${CLOCK}
   where f.seq > last_seq or f.at > last_at or exists (
     select from unnest(f.seqs) found (seq) where found.seq <= f.after or found.seq > f.seq
        or not exists (select from articles a where a.seq = found.seq))
  union all
  select 'alerts', alert_id || ' looks again only on ' || due_at from search_alerts where due_at > now() + interval '9 days'
  union all
  select 'alerts', message_id || ' of ' || alert_id || ' is tried again only on ' || try_at
    from alert_messages where delivered_at is null and try_at > now() + interval '2 days'
  union all
  select 'keys', 'the plan of ' || id || ' has no country, or one that there is not; or its hash is none'
    from api_keys where countries = '{}' or not countries <@ '{${COUNTRIES}}' or length(key_hash) <> 32
  union all
  select 'searches', 'the set "' || name || '" of ' || key_id || ' has no outlets, or none as they are compared'
    from outlet_sets where domains = '{}' or domains::text <> lower(domains::text)
  union all
  select 'secrets', 'the secret "' || name || '" has ' || length(value) || ' bytes'
    from secrets where length(value) <> 32
  union all
  select 'secrets', 'the secret "' || name || '" is lost'
    from (values ('cursor', exists (select from rate_windows)),
                 ('feeds', exists (select from search_feeds)),
                 ('refusals', exists (select from refusals))) needed (name, is_used)
   where is_used and not exists (select from secrets s where starts_with(s.name, needed.name))
  union all
  select 'alerts', 'a refusal of ' || key_id || ' has no hash of an address, or of one of its links'
    from refusals where length(hash) <> 32 or 32 <> any (select length(link) from unnest(links) link)
  union all
  select 'identity', 'the installation has no row' where not exists (select from installation)`

/** Compares feeds, alerts and secrets with what they follow from. */
export const verifyDesk = async ({ pool, report }: Looking): Promise<void> => {
  await findFaults(pool, report, FAULTS)
  for (const id of await feedsWithoutAddress(pool))
    report.found('feeds', `the address of ${id} cannot be told again`)
  for (const id of await forgedSets(pool))
    report.found('candidates', `the set ${id} holds other candidates than it was made of`)
  const { rows: alerts } = await pool.query<Record<'id' | 'to' | 'when' | 'zone', string>>(
    `select alert_id as id, told_to as to, ${WHEN} as when, time_zone as zone from search_alerts order by 1`,
  )
  for (const { id, to, when, zone } of alerts)
    if (!isWhen(when) || timeZoneNamed(zone) === null || !/^(?:https?|mailto):/.test(to))
      report.found('alerts', `${id} tells ${to}, ${when}, in the zone ${zone}: that cannot be`)
  const { rows: sets } = await pool.query<{ name: string; folded: string }>(
    'select name, folded from outlet_sets order by key_id, folded',
  )
  for (const { name, folded } of sets)
    if (folded !== foldedSet(name))
      report.found('searches', `the set "${name}" is known as "${folded}"`)
  const { rows } = await pool.query<{ kind: Kind; id: string; search: string }>(`
    select 'feeds' as kind, feed_id as id, search from search_feeds where revoked_at is null
    union all select 'searches', search_id, search from kept_searches order by 1, 2`)
  for (const { kind, id, search } of rows) {
    try {
      readSearch(search, 'feed')
    } catch (error) {
      // Newer rules may refuse a query that was let through. Such a search rests, and says so.
      if (error instanceof ApiError && Object.keys(error.errors ?? {}).join() === 'q') continue
      report.found(kind, `the search of ${id} cannot be read (${describe(error)}): ${search}`)
    }
  }
}

interface StoredCitation {
  digest: string
  search: string
  countries: Country[]
  since: Date
  articles: number
  /** Strings, because the driver returns the elements of a bigint array as strings. */
  seqs: string[]
  marks: number[]
  isBeyond: boolean
  isOutside: boolean
}

/** Computes the digest of each citation anew from its articles. */
export async function verifyCitations({ pool, report, signal }: Looking): Promise<void> {
  const kept =
    "select encode(digest, 'hex') as digest from citations where removed_at is null order by digest"
  for (const digest of await readColumn<string>(pool, kept)) {
    if (signal.aborted) return
    const fault = await citationFault(pool, digest)
    if (fault !== null) report.found('citations', `citation ${digest} ${fault}`)
  }
}

/** How many articles are read at a time. */
const PART = 2_000

/** @returns what is wrong with a citation; null: nothing */
const citationFault = (pool: Pool, digest: string): Promise<string | null> =>
  transaction(pool, async client => {
    await client.query('set transaction isolation level repeatable read read only')
    const cited = await readRow<StoredCitation>(
      client,
      `select search, countries, since, articles, seqs, marks,
              exists (select from articles a where a.seq = any (seqs) and a.country <> all (countries)) as "isOutside",
              watermark > last_seq or as_of > last_at or seqs[cardinality(seqs)] > watermark as "isBeyond"
         from citations, ${CLOCK} where digest = decode($1, 'hex') and removed_at is null`,
      [digest],
    )
    if (cited === undefined) return null
    const { articles, seqs, marks, isBeyond, isOutside } = cited
    if (isOutside) return 'has articles of countries that its plan had not'
    if (isBeyond) return 'is of a time that the clock has not reached'
    if (seqs.length !== articles || marks.length !== articles)
      return `has ${seqs.length} numbers and ${marks.length} marks of ${articles} articles`
    const lines: (string | null)[] = []
    for (let from = 0; from < articles; from += PART)
      lines.push(...(await readLines(client, seqs.slice(from, from + PART).map(BigInt))))
    const other = lines.findIndex((line, at) => line !== null && markOf(line) !== marks[at])
    if (other >= 0) return `names article ${seqs[other]}, which is another, has changed or is gone`
    // Without all lines the digest cannot be computed.
    const whole = lines.filter(line => line !== null)
    const head = headOf(cited.search, cited)
    const now = await citationDigest(createPace(), head, whole)
    const isOther = whole.length === articles && now !== digest
    return isOther ? 'has the digest of another search' : null
  })
