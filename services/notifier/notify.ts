import type { PgBoss } from 'pg-boss'
import { openIndex } from '../../search/index.ts'
import type { SearchIndex } from '../../search/types.ts'
import { loadAlertSecrets } from '../../shared/desk/alerts/secrets.ts'
import { createOutageLog } from '../../shared/log/outage.ts'
import { counter } from '../../shared/metrics.ts'
import { isTransient, type Pool } from '../../shared/postgres/pool.ts'
import { repeatEvery } from '../../shared/process/repeat.ts'
import type { RunningService, ServiceContext } from '../../shared/process/service.ts'
import { startBoss } from '../../shared/queues/boss.ts'
import { ALERTS, DEAD_ALERTS } from '../../shared/queues/queues.ts'
import { openWorker } from '../../status/cause-watch.ts'
import { openMail } from './mail.ts'
import { composed, noteDelivered, noteFailed, type ReadMessage, readMessage } from './message.ts'
import { NotDelivered, openWebhooks } from './webhook.ts'

/** ms between two checks for due messages. */
const TICK = 1_000
/**
 * ms after which a message is queued again. That has no effect while the message still has a job.
 */
const QUEUED = 30_000
/**
 * The most messages that are sent at a time. A receiver that hangs takes one of these places for
 * ten seconds.
 */
const AT_ONCE = 16
/**
 * The most messages of one key that are sent at a time, so that a key whose receivers hang delays
 * no other key.
 */
const OF_A_KEY = 4
/**
 * ms for which delivered messages are kept. If a message of this time had a copy of a text, the
 * text is not sent again.
 */
const KEPT = 7 * 86_400_000

const delivered = counter('alerts_delivered_total', 'Messages of alerts that arrived.')
const failed = counter(
  'alerts_failed_total',
  'Attempts to deliver a message of an alert that failed.',
)

interface Sender {
  pool: Pool
  index: Pick<SearchIndex, 'articles'>
  webhooks: Pick<ReturnType<typeof openWebhooks>, 'send'>
  mail: Pick<NonNullable<ReturnType<typeof openMail>>, 'send'> | null
}

/**
 * Sends the messages of alerts. Postgres decides what to send; pg-boss repeats failed attempts,
 * after longer and longer pauses. A message that was sent but not recorded is sent again, under the
 * same id.
 */
export async function startNotifier({ config, log }: ServiceContext): Promise<RunningService> {
  const { pool, queues, postgres, watch } = openWorker('notifier', { config, log })
  const boss = await startBoss(config.DATABASE_URL, postgres)
  const webhooks = openWebhooks(config)
  const mail = openMail(config)
  const sender = {
    pool,
    index: { articles: (seqs: bigint[]) => readArticles(pool, seqs) },
    webhooks,
    mail,
  }
  await boss.work<{ message: string }>(
    ALERTS,
    { localConcurrency: AT_ONCE, localGroupConcurrency: OF_A_KEY, pollingIntervalSeconds: 0.5 },
    async jobs => {
      for (const { data } of jobs) await send(sender, boss, data.message)
    },
  )
  const outage = createOutageLog(
    log,
    'could not queue messages of alerts',
    'messages of alerts are queued again',
  )
  const dispatcher = repeatEvery(TICK, () => dispatch(pool, boss), { outage })
  const { missing, causes } = watch()
  return {
    async stop() {
      await causes.close()
      await dispatcher.close()
      await boss.stop({ graceful: true, timeout: 11_000 })
      await webhooks.close()
      mail?.close()
      await queues.close().catch(() => {})
      await pool.end()
    },
    missing,
  }
}

/**
 * Reads articles as they are now. Nothing is kept between two messages, because after a failover
 * numbers of articles and names may be given again.
 */
async function readArticles(pool: Pool, seqs: bigint[]) {
  const index = openIndex(pool)
  return await index.articles(seqs).finally(() => index.close())
}

// $1 QUEUED. Index: alert_messages_due
const DISPATCH = `
  with due as (
    select m.message_id, a.key_id from alert_messages m join search_alerts a using (alert_id)
     where m.delivered_at is null and m.try_at <= now() and (a.rests is null or m.kind <> 'articles')
     order by m.try_at limit 200 for update of m skip locked)
  update alert_messages m set try_at = now() + $1 * interval '1 ms' from due where m.message_id = due.message_id
  returning m.message_id as message, due.key_id as key`

/** Queues the messages that are due. */
async function dispatch(pool: Pool, boss: PgBoss): Promise<void> {
  const { rows } = await pool.query<{ message: string; key: string }>(DISPATCH, [QUEUED])
  if (rows.length > 0)
    await boss.insert(
      ALERTS,
      rows.map(({ message, key }) => ({
        data: { message },
        singletonKey: message,
        group: { id: key },
      })),
    )
  await pool.query("delete from alert_messages where delivered_at < now() - $1 * interval '1 ms'", [
    KEPT,
  ])
}

/** @throws NotDelivered the message is tried again later */
async function send(
  { pool, index, webhooks, mail }: Sender,
  boss: PgBoss,
  id: string,
): Promise<void> {
  const message = await readMessage(pool, id)
  if (message === null) return
  const body = await composed(index, message)
  try {
    // If the current plan shows no article of the message, nothing is sent.
    if (body !== null) await deliver(message, body)
    await noteDelivered(pool, message, body !== null)
    delivered.inc()
  } catch (error) {
    if (isTransient(error) || !(error instanceof NotDelivered)) throw error
    failed.inc()
    if (!(await noteFailed(pool, message, error.message))) throw error
    // The alert rests now. Its articles wait until it continues; any other message is dropped.
    await pool.query("delete from alert_messages where message_id = $1 and kind <> 'articles'", [
      id,
    ])
    await boss.send(DEAD_ALERTS, { message: id, why: error.message }, { singletonKey: id })
  }

  async function deliver(
    message: ReadMessage,
    body: NonNullable<Awaited<ReturnType<typeof composed>>>,
  ): Promise<void> {
    const { alert } = message
    const secrets = await loadAlertSecrets(pool)
    if (!alert.to.startsWith('mailto:')) {
      const secret = secrets.signing(alert.id)
      await webhooks.send(alert.to, { id, body: JSON.stringify(body), secret })
    } else if (mail === null) throw new NotDelivered('This server sends no mail any more.')
    else await mail.send(alert, body, secrets.token)
  }
}
