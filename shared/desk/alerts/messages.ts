import { randomBytes } from 'node:crypto'

/*
 * A message of an alert, as its row in `alert_messages` says. It waits until `try_at`. A notifier
 * that takes it counts the attempt and sets `try_at` to the end of its lease, so that another
 * notifier sends it if the first one dies. After a failure, `try_at` is the time of the next
 * attempt. `delivered_at` ends it. No queue has to know of it, so nothing is lost with a queue.
 */

/** A new id of a message. Receivers see it, and know a message that comes twice by it. */
export const messageId = (): string => `msg_${randomBytes(16).toString('hex')}`

/**
 * SQL: the host that receives what is sent to `told_to`. It is host and port of a webhook, or the
 * domain of a mail address.
 */
export const hostOf = (address: string): string =>
  `coalesce(substring(${address} from '^https?://([^/?#]+)'), substring(${address} from '@(.+)$'))`

/**
 * SQL: the digest of what an alert asks: the search of `kept_searches s` with its sets of outlets,
 * and the plan of `api_keys k`. An answer that was stored for another question is worth nothing.
 */
export const QUESTION = `encode(sha256(convert_to(concat_ws(E'\\n', s.search, array_to_string(k.countries, ','),
  extract(epoch from k.history_start), k.history_days, extract(epoch from s.sets_changed_at)), 'UTF8')), 'hex')`
