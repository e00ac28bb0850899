import { setTimeout as pause } from 'node:timers/promises'
import { openIndex } from '#search/index'
import type { ArticleRow } from '#search/types'
import { askUnasked, forgetAsked, nameAsked } from '#shared/desk/alerts/consent'
import { adoptRefusals } from '#shared/desk/alerts/refusals'
import { type AlertSecrets, loadAlertSecrets } from '#shared/desk/alerts/secrets'
import type { Logger } from '#shared/log/logger'
import { createOutageLog } from '#shared/log/outage'
import { counter } from '#shared/metrics'
import type { Pool } from '#shared/postgres/pool'
import { repeatEvery } from '#shared/process/repeat'
import type { RunningService, ServiceContext } from '#shared/process/service'
import { openWorker } from '#status/cause-watch'
import { type Mail, openMail } from './mail.ts'
import {
  composed,
  noteDelivered,
  noteFailed,
  readAlso,
  readWaiting,
  type Section,
  type TakenMessage,
  takeMessages,
} from './message.ts'
import { createPlaces, type Outcome, type Place, type Places } from './places.ts'
import { LONGEST_ASKED, pauseAfter } from './retries.ts'
import { NotDelivered, openWebhooks, type Webhooks } from './webhook.ts'

/** ms between two looks for due messages, unless a place becomes free. */
const TICK = 500
/** ms between two removals of what was delivered long ago, and two looks for what nobody asked. */
const TIDIES = 60_000
/**
 * ms for which delivered messages are kept. If a message of this time had a copy of a text, the
 * text is not sent again.
 */
const KEPT = 7 * 86_400_000
/** How many due messages are looked at, of a host and of a key. */
const LOOKED_AT = { ofHost: 8, ofKey: 32 }

const delivered = counter('alerts_delivered_total', 'Messages of alerts that arrived.')
const failed = counter(
  'alerts_failed_total',
  'Attempts to deliver a message of an alert that failed.',
)

interface Sender {
  pool: Pool
  webhooks: Webhooks
  mail: Mail | null
  log: Logger
}

/**
 * Sends the messages of alerts. Postgres alone says what is due; this process looks twice a second,
 * and whenever a place becomes free. A message that was sent but not recorded is sent again, under
 * the same id.
 */
export async function startNotifier({ config, log }: ServiceContext): Promise<RunningService> {
  const { pool, queues, watch } = openWorker('notifier', { config, log })
  const sender = { pool, webhooks: openWebhooks(config), mail: openMail(config), log }
  const outage = createOutageLog(
    log,
    'could not send messages of alerts',
    'messages of alerts are sent again',
  )
  const closing = new AbortController()
  const sending = sendAll(sender, outage, closing.signal)
  const tidying = repeatEvery(TIDIES, () => tidy(pool), { outage })
  const { missing, causes } = watch()
  return {
    async stop() {
      closing.abort()
      await causes.close()
      await tidying.close()
      await sending
      await sender.webhooks.close()
      sender.mail?.close()
      await queues.close().catch(() => {})
      await pool.end()
    },
    missing,
  }
}

async function tidy(pool: Pool): Promise<void> {
  const long = "delivered_at < now() - $1 * interval '1 ms'"
  await pool.query(`delete from alert_messages where ${long}`, [KEPT])
  await adoptRefusals(pool)
  await forgetAsked(pool)
  await askUnasked(pool)
}

/** Sends what is due until it is told to close. Then it waits for what is being sent. */
async function sendAll(
  sender: Sender,
  outage: { met(error: unknown): void; over(): void },
  closing: AbortSignal,
): Promise<void> {
  const places = createPlaces()
  const running = new Set<Promise<void>>()
  let freed = Promise.withResolvers<void>()
  const run = (work: Promise<void>) => {
    const own = work.catch(outage.met).finally(() => {
      running.delete(own)
      freed.resolve()
    })
    running.add(own)
  }
  while (!closing.aborted) {
    freed = Promise.withResolvers<void>()
    const sent = await sendNext(sender, places, run).then(
      count => {
        outage.over()
        return count
      },
      (error: unknown) => {
        outage.met(error)
        return 0
      },
    )
    const tick = pause(TICK, undefined, { signal: closing }).catch(() => {})
    await (sent > 0 ? Promise.race([tick, freed.promise]) : tick)
  }
  await Promise.all(running)
}

/** Begins to send as many messages as there are places for. @returns how many were due */
async function sendNext(
  sender: Sender,
  places: Places,
  run: (work: Promise<void>) => void,
): Promise<number> {
  const { pool } = sender
  const waiting = places.hasRoom ? await readWaiting(pool, LOOKED_AT) : []
  const chosen = places.choose(waiting)
  if (chosen.length === 0) return 0
  const begun = new Map(chosen.map(({ message, place }) => [message.id, place]))
  try {
    const taken = await takeMessages(pool, [...begun.keys()])
    const rows = await readArticles(
      pool,
      taken.flatMap(({ seqs }) => seqs),
    )
    const secrets = await loadAlertSecrets(pool)
    for (const [id, messages] of Map.groupBy(taken, one => one.with)) {
      const place = begun.get(id)
      if (place === undefined) continue
      begun.delete(id)
      run(send(sender, { messages, place, rows, secrets }))
    }
  } finally {
    // They were withdrawn, have to wait, or another process took them.
    for (const place of begun.values()) place.end(null)
  }
  return chosen.length
}

/**
 * Reads articles as they are now. Nothing is kept between two reads, because after a failover
 * numbers of articles and names may be given again.
 */
async function readArticles(pool: Pool, seqs: bigint[]): Promise<Map<bigint, ArticleRow>> {
  if (seqs.length === 0) return new Map()
  const index = openIndex(pool)
  const rows = await index.articles([...new Set(seqs)]).finally(() => index.close())
  return new Map(rows.map(row => [row.seq, row]))
}

interface Begun {
  /** One message, or all that one mail tells. */
  messages: TakenMessage[]
  place: Place
  rows: ReadonlyMap<bigint, ArticleRow>
  secrets: AlertSecrets
}

async function send(sender: Sender, { messages, place, rows, secrets }: Begun): Promise<void> {
  let outcome: Outcome | null = null
  try {
    const composedOnes = messages.map(message => ({ message, body: composed(message, rows) }))
    // If the current plan shows no article of a message, nothing of it is sent.
    const bodies = composedOnes.flatMap(({ body }) => body ?? [])
    const ids = bodies.flatMap(({ articles }) => articles.map(({ id }) => id))
    const { alert, key } = messages[0]!
    const isMail = alert.to.startsWith('mailto:')
    const also = isMail ? await readAlso(sender.pool, key.key.plan, ids, sender.log) : new Map()
    const sections = composedOnes.flatMap(({ message, body }) =>
      body === null ? [] : [{ ...message, message: body, also }],
    )
    if (sections.length > 0) await deliver(sender, sections, secrets)
    outcome = { kind: 'taken', wait: 0 }
    for (const { message, body } of composedOnes) {
      const shown = body?.articles.map(({ id }) => id)
      await noteDelivered(sender.pool, message, shown)
    }
  } catch (error) {
    if (!(error instanceof NotDelivered)) throw error
    const { message: why, isGone, retryAfter } = error
    const asked = Math.min(retryAfter ?? 0, LONGEST_ASKED)
    outcome = { kind: error.isUnreachable ? 'unreachable' : 'refused', wait: asked }
    // One moment for all, so that what one mail tells comes again as one mail.
    const attempts = Math.max(...messages.map(one => one.attempts))
    const again = performance.now() + pauseAfter(attempts, retryAfter)
    for (const message of messages) {
      failed.inc()
      await noteFailed(sender.pool, message, { why, wait: again - performance.now(), isGone })
    }
  } finally {
    place.end(outcome)
  }
}

async function deliver(
  { pool, webhooks, mail }: Sender,
  sections: readonly Section[],
  secrets: AlertSecrets,
): Promise<void> {
  const { alert, message } = sections[0]!
  if (!alert.to.startsWith('mailto:')) {
    const secret = secrets.signing(alert.id)
    await webhooks.send(alert.to, { id: message.id, body: JSON.stringify(message), secret })
  } else if (mail === null) throw new NotDelivered('This server sends no mail any more.')
  else {
    const isAsking = message.type === 'ask'
    const asked = isAsking ? await nameAsked(pool, message.id, alert.id) : []
    // Since the message was written, its owner has agreed by another link, or has refused.
    if (isAsking && asked.length === 0) return
    await mail.send(sections, secrets, asked)
  }
  delivered.inc(sections.length)
}
