import { isDeepStrictEqual } from 'node:util'
import { spend } from '#services/crawler/hosts/budgets'
import type { Lease } from '#services/crawler/hosts/leases'
import { isRecord } from '#shared/encoding/is-record'
import { parseJson } from '#shared/encoding/json'
import { readRow } from '#shared/postgres/pool'
import type { Asking } from './permitted-request.ts'
import { type Fetched, politeGet } from './polite-get.ts'
import { pathMatcher } from './robots.ts'

/** One rule of a host's tdmrep.json (W3C community group, "TDM Reservation Protocol"). */
export interface TdmRule {
  /** A pattern as in robots.txt. */
  location: string
  reservation: '0' | '1'
  policy: string | null
}

const FILE = '/.well-known/tdmrep.json'
/** The most bytes of a tdmrep.json that are read. */
const LIMIT = 512_000
const MOST_RULES = 1_000
/**
 * Stands for rules beyond these limits. It reserves everything, because the crawler takes nothing
 * under rules that it has not read.
 */
const UNREAD: TdmRule = { location: '/', reservation: '1', policy: null }
const LONGEST = 2_000
/** ms until the file is requested again: after an answer, and after a failure. */
const KEEP = 86_400_000
const TRY_AGAIN = 3_600_000

/**
 * The rule for an address; null: no rule. Of several rules that match, the first in the file
 * counts.
 */
export function ruleFor(rules: TdmRule[], url: URL): TdmRule | null {
  const isMatched = pathMatcher(url)
  for (const rule of rules) {
    const matched = isMatched(rule.location)
    if (matched !== false) return matched ? rule : UNREAD
  }
  return null
}

/**
 * The rules of a tdmrep.json; null for a text that is no JSON. A rule without a location, or with a
 * value other than 0 and 1, is ignored.
 */
export function readTdmFile(text: string): TdmRule[] | null {
  if (Buffer.byteLength(text) >= LIMIT) return [UNREAD]
  const file = parseJson(text.replace(/^\ufeff/, ''))
  if (file === undefined) return null
  const written: unknown[] = Array.isArray(file) ? file : []
  const rules = written.slice(0, MOST_RULES).flatMap(readRule)
  return written.length > MOST_RULES ? [...rules, UNREAD] : rules
}

function readRule(rule: unknown): TdmRule[] {
  if (!isRecord(rule)) return []
  const { location, 'tdm-policy': policy } = rule
  const stated = rule['tdm-reservation']
  const reservation =
    stated === 0 || stated === '0' ? '0' : stated === 1 || stated === '1' ? '1' : null
  if (typeof location !== 'string' || location.length > LONGEST || reservation === null) return []
  const kept = typeof policy === 'string' ? storable(policy.slice(0, LONGEST)) : null
  return [{ location: storable(location), reservation, policy: kept }]
}

/** A text that the database accepts: without NUL, and without lone surrogates. */
const storable = (text: string) => text.toWellFormed().replaceAll('\0', '')

/**
 * What a tdmrep.json says of an address. `unread`: why the page has to wait for the file; the rule
 * is then the one that is valid meanwhile.
 */
export interface TdmAnswer {
  rule: TdmRule | null
  unread: Extract<Fetched, { kind: 'busy' | 'interrupted' }> | null
}

/**
 * Finds the rule of a host's tdmrep.json for an address. The file is fetched once a day, as
 * politely as a page: with robots.txt, a permit, and the outlet's budget. A host without this file
 * has no rules. After any other failure, the host's last rules stay valid.
 *
 * @param isAsked this visit has just requested a page from the host. If the host has no rules yet,
 * the visit then waits until it may request the file.
 */
export async function tdmRuleOf(
  asking: Asking,
  visit: Lease,
  outletNo: number,
  url: URL,
  isAsked = false,
): Promise<TdmAnswer> {
  const { origin, host } = url
  const known = await readRow<{ tdm: TdmRule[] | null; fresh: boolean | null }>(
    asking.pool,
    'select tdm, tdm_until > clock_timestamp() as fresh from hosts where host = $1',
    [host],
  )
  const last = known?.tdm ?? []
  const lastAnswer = { rule: ruleFor(last, url), unread: null }
  if (known?.fresh === true) return lastAnswer
  const headers = { accept: 'application/json,*/*;q=0.5' }
  const asked = isAsked && last.length === 0 ? host : null
  const fetched = await politeGet(asking, visit, outletNo, origin + FILE, headers, {
    beginning: LIMIT,
    asked,
  })
  const isOwn = 'host' in fetched && fetched.host === host
  // A redirect to another, busy host must not delay the page.
  if (fetched.kind === 'interrupted' || (fetched.kind === 'busy' && isOwn))
    return { ...lastAnswer, unread: fetched }
  // The request for the page will fail for the same reason, and then reports it.
  if (fetched.kind === 'robots unreachable' && isOwn) return lastAnswer
  if (fetched.kind === 'failure' && fetched.reason === 'held') return lastAnswer
  if (fetched.kind === 'answer')
    await spend(asking.pool, outletNo, { hosts: 0, bytes: fetched.answer.body.length })
  const read = rulesIn(fetched)
  const rules = read ?? last
  const isKept = read !== null || (last.length === 0 && isSettled(fetched))
  if (last.length > 0 && !isDeepStrictEqual(rules, last))
    asking.log.warn(
      { host, before: last.length, rules: rules.length },
      'the rules of a tdmrep.json changed',
    )
  // The rules stay valid until some time after the host may be asked again, because the host may
  // rest for longer than rules are kept.
  await asking.pool.query(
    `update hosts set tdm = $2, tdm_until = greatest(clock_timestamp(), free_at) + $3 * interval '1 ms'
      where host = $1`,
    [host, rules.length === 0 ? null : JSON.stringify(rules), isKept ? KEEP : TRY_AGAIN],
  )
  return { rule: ruleFor(rules, url), unread: null }
}

/** Null: the answer tells nothing about the rules, for instance because it is a challenge. */
function rulesIn(fetched: Fetched): TdmRule[] | null {
  if (fetched.kind !== 'answer') return null
  const { status, body } = fetched.answer
  if (status === 404 || status === 410) return []
  return status === 200 ? readTdmFile(body.toString('utf8')) : null
}

/** Whether the same request would get the same answer an hour later. */
const isSettled = (fetched: Fetched) =>
  fetched.kind === 'disallowed' ||
  (fetched.kind === 'answer' && fetched.answer.status < 500 && fetched.answer.status !== 429)
