import { printableLine } from '../../../shared/log/printable.ts'
import { admitsHost } from '../budgets/new-hosts.ts'
import type { Poll } from '../feeds/poll-context.ts'
import { askHost } from '../fetch/ask-host.ts'
import type { Asked } from '../fetch/permitted-request.ts'
import { type DueSubscription, noteRefusal, takeDue } from './subscription.ts'

/** The lease that we ask for, in seconds: ten days. Hubs may grant another one. */
const LEASE = 864_000
/** ms that the visit of the feed's host waits for the hub. */
const PATIENCE = 15_000
const LONGEST_ANSWER = 10_000

/**
 * Asks the hub of a feed for a subscription when that is due, or for another lease (W3C WebSub §5).
 * The request has a permit of the hub's host, and the outlet's budget pays for a new host. The hub
 * confirms by asking the API (`services/api/websub`). No failure here fails the poll: the feed is
 * polled all the same.
 */
export async function subscribeWhenDue({ crawl, visit, feed }: Poll): Promise<void> {
  const { config, pool } = crawl
  if (config.WEBSUB_PUBLIC_URL === '') return
  const due = await takeDue(pool, feed)
  if (due === null) return
  const hub = new URL(due.hub)
  if (hub.host !== visit.host && !(await admitsHost(pool, feed.outletNo, hub.host, config))) return
  const asked = await askHost(
    crawl,
    visit,
    hub,
    { 'content-type': 'application/x-www-form-urlencoded' },
    {
      outletNo: feed.outletNo,
      patience: PATIENCE,
      beginning: LONGEST_ANSWER,
      post: formOf(due, config.WEBSUB_PUBLIC_URL),
    },
  )
  const refusal = refusalOf(asked)
  if (refusal === null) return
  await noteRefusal(pool, feed, printableLine(refusal).slice(0, 500))
  crawl.log.info({ feed: feed.url, hub: due.hub, detail: refusal }, 'a hub did not take a subscription')
}

function formOf({ topic, token, secret }: DueSubscription, publicUrl: string): string {
  return new URLSearchParams({
    'hub.mode': 'subscribe',
    'hub.topic': topic,
    'hub.callback': `${publicUrl.replace(/\/+$/, '')}/websub/${token}`,
    'hub.lease_seconds': String(LEASE),
    'hub.secret': secret,
  }).toString()
}

/** Null: the hub has accepted the request, and will ask us whether we made it. */
function refusalOf(asked: Asked): string | null {
  switch (asked.kind) {
    case 'answer':
      return asked.answer.status >= 200 && asked.answer.status < 300 ? null : `the hub answers ${asked.answer.status}`
    case 'failure':
      return asked.detail
    case 'busy':
      return "the hub's host is busy"
    case 'interrupted':
      return null
  }
}
