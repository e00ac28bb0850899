import type { SearchIndex } from '../../search/types.ts'
import { articleObject } from '../../shared/articles/article.ts'
import { chargeQuota, MONTH_OF_KEY, type QuotaMonth } from '../../shared/plans/counting.ts'
import { foundKey, PLAN_COLUMNS, type PlanRow } from '../../shared/plans/keys.ts'
import { coveredBy, covers } from '../../shared/plans/reach.ts'
import { type Pool, readRow, readValue, transaction } from '../../shared/postgres/pool.ts'

/** ms of failures after which an alert rests. */
const RESTS_AFTER = 86_400_000

export type ToldArticle = ReturnType<typeof articleObject>

/** The content of a message, and the body of a webhook. */
export interface Message {
  id: string
  type: 'articles' | 'test' | 'ask'
  search: { id: string; name: string }
  articles: ToldArticle[]
  more: number
}

/** A message that must be delivered, with its alert and the plan of its key. */
export interface ReadMessage extends Omit<Message, 'articles'> {
  seqs: bigint[]
  alert: { id: string; to: string }
  key: ReturnType<typeof foundKey>
}

interface Row extends PlanRow, QuotaMonth {
  kind: Message['type']
  /**
   * Numbers of articles. They are strings, because the driver returns the elements of a bigint
   * array as strings.
   */
  seqs: string[]
  more: number
  alert_id: string
  told_to: string
  rests: string | null
  search_id: string
  name: string
}

// $1 message. Indexes: the primary keys.
const READ = `
  select g.kind, g.seqs, g.more, a.alert_id, a.told_to, a.rests, a.search_id, s.name, k.*, m.*
    from alert_messages g join search_alerts a using (alert_id) join kept_searches s using (search_id)
    join (select ${PLAN_COLUMNS} from api_keys where revoked_at is null) k on k.id = a.key_id
    left join lateral (${MONTH_OF_KEY}) m on k.quota is not null
   where g.message_id = $1 and g.delivered_at is null and (a.confirmed_at is not null or g.kind = 'ask')`

/**
 * Reads a message that may be sent now. Null: it was delivered or withdrawn, or it has to wait. It
 * waits while its alert rests, while the owner of the address has not agreed, or while the month of
 * its key is used up.
 */
export async function readMessage(pool: Pool, id: string): Promise<ReadMessage | null> {
  const row = await readRow<Row>(pool, READ, [id])
  if (row === undefined || (row.rests !== null && row.kind === 'articles')) return null
  const key = foundKey(row)
  const { quota } = key.key.plan
  if (row.kind === 'articles' && key.month !== null && quota !== null && key.month.used >= quota) {
    // The message waits until the month ends, but for ten minutes at most, because an operator may
    // raise the quota.
    const TRY =
      "update alert_messages set try_at = least(to_timestamp($2), now() + interval '10 min') where message_id = $1"
    await pool.query(TRY, [id, key.month.reset])
    return null
  }
  const alert = { id: row.alert_id, to: row.told_to }
  const search = { id: row.search_id, name: row.name }
  return { id, type: row.kind, search, more: row.more, seqs: row.seqs.map(BigInt), alert, key }
}

/**
 * The message in the form that is sent, with its articles as `/v1` shows them under the current
 * plan. Null: the plan shows none of its articles.
 */
export async function composed(
  index: Pick<SearchIndex, 'articles'>,
  { id, type, search, seqs, more, key }: ReadMessage,
): Promise<Message | null> {
  const reach = coveredBy(key.key.plan)
  const rows = seqs.length === 0 ? [] : await index.articles(seqs)
  const shown = rows.map(articleObject).filter(article => covers(reach, article))
  if (type === 'articles' && shown.length === 0) return null
  return { id, type, search, articles: shown, more }
}

/**
 * Records a delivery. In the same transaction the alert moves on to its new place, and the key pays
 * for the message.
 */
export function noteDelivered(
  pool: Pool,
  { id, type, alert, key }: ReadMessage,
  costs: boolean,
): Promise<void> {
  return transaction(pool, async client => {
    // The alert is locked first, as in all transactions that change or end it, so that no two can
    // deadlock.
    await client.query('select from search_alerts where alert_id = $1 for update', [alert.id])
    const place = await readRow<{ seq: bigint | null; at: Date | null }>(
      client,
      'update alert_messages set delivered_at = now() where message_id = $1 and delivered_at is null returning seq, at',
      [id],
    )
    if (place === undefined) return
    await client.query(
      `update search_alerts set seq = coalesce($2, seq), at = coalesce($3, at), failing_since = null, failure = null,
              delivered_at = case when $4 then now() else delivered_at end
        where alert_id = $1`,
      [alert.id, place.seq, place.at, type === 'articles' && costs],
    )
    const { quota } = key.key.plan
    if (quota !== null && type === 'articles' && costs) await chargeQuota(client, key.key.id, quota)
  })
}

// $1 alert, $2 why, $3 RESTS_AFTER.
const FAIL = `
  update search_alerts set failing_since = coalesce(failing_since, now()), failure = $2,
         rests = case when failing_since < now() - $3 * interval '1 ms' then 'It has failed for a day: ' || $2 else rests end
   where alert_id = $1 returning rests is not null as rests`

/** Records a failure. @returns whether the alert rests now */
export async function noteFailed(
  pool: Pool,
  { alert }: ReadMessage,
  why: string,
): Promise<boolean> {
  return (await readValue<boolean>(pool, FAIL, [alert.id, why, RESTS_AFTER])) ?? true
}
