import type { Findings } from '../findings.ts'
import type { Poller } from '../readers/poller.ts'
import type { Sequence } from '../readers/sequence.ts'
import type { Exported, Holdings } from './holdings.ts'

/** `ingested_at` grows in the order of visibility (decision 23), which is the order of numbers. */
export function checkOrder({ order }: Holdings, findings: Findings): void {
  let last = 0
  for (const { seq, id, ingested_at } of order) {
    const at = ingested_at?.getTime() ?? 0
    if (at < last) findings.add(`${id} (number ${seq}) has an earlier time of ingestion than the number before it.`)
    last = at
  }
}

/** A poller has seen every article that its filter lets through, and as it is. */
export function checkPoller(
  poller: Pick<Poller, 'name' | 'seen'>,
  matches: (article: Exported) => boolean,
  { exported }: Holdings,
  findings: Findings,
): void {
  const held = new Map(exported.map(article => [article.id, article]))
  for (const article of exported) {
    if (!matches(article)) continue
    const seen = poller.seen.get(article.id)
    if (!seen)
      findings.add(`${poller.name} has never been given ${article.id} (${article.title}, ${article.ingested_at}).`)
    else if (seen.ingested_at !== article.ingested_at || seen.published_at !== article.published_at)
      findings.add(`The times of ${article.id} are not those that ${poller.name} was given.`)
  }
  for (const [id, { title, ingested_at }] of poller.seen) {
    if (!held.has(id)) findings.add(`${poller.name} was given ${id} (${title}, ${ingested_at}), and it is gone.`)
  }
}

/**
 * A sequence is the result set as it stood at its beginning (decision 22): the first so many of all
 * that match, in the order in which they became visible, each once.
 */
export function checkSequence({ name, question, total, ids }: Sequence, holdings: Holdings, findings: Findings): void {
  const about = `${name} (${new URLSearchParams(question.query)})`
  const given = new Set(ids)
  if (given.size < ids.length) findings.add(`${about} was given ${ids.length - given.size} articles twice.`)
  if (given.size !== total) findings.add(`${about} began with ${total} results and was given ${given.size}.`)
  if (!question.matches) return
  const articles = new Map(holdings.exported.map(article => [article.id, article]))
  const { matches } = question
  const matching = holdings.order.flatMap(({ id }) => articles.get(id) ?? []).filter(matches)
  const expected = new Set(matching.slice(0, total).map(({ id }) => id))
  const missing = [...expected].filter(id => !given.has(id))
  const strange = [...given].filter(id => !expected.has(id))
  if (missing.length + strange.length > 0)
    findings.add(
      `${about} was not frozen: of the ${total} it began with it missed ${missing.length} (${missing.slice(0, 3)}) and was given ${strange.length} others (${strange.slice(0, 3)}).`,
    )
}
