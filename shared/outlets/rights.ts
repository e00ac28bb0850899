import type { Config } from '../config/config.ts'
import type { Logger } from '../log/logger.ts'
import type { Queryable } from '../postgres/pool.ts'

/*
 * The rights that outlets reserve in ways that machines read, in one place: what a header, a meta
 * tag or a file says, and what follows from all of them together.
 *
 * Robots rules: `X-Robots-Tag` and `<meta name="robots">`, as Google and MDN describe them. Of
 * rules for everybody and rules for us the strictest holds.
 *
 * TDM: the W3C community group's "TDM Reservation Protocol". Its processing priority is file,
 * header, page: the later one wins, and silence changes nothing. Other values than 0 and 1 are
 * silence.
 *
 * Uses: `Content-Usage` of robots.txt and header (draft-ietf-aipref-attach and -vocab), and
 * `Content-Signal` of robots.txt (contentsignals.org), which calls itself a reservation of TDM. Of
 * several statements the strictest holds, as -vocab asks.
 */

/** The names under which the rules of a host's files are kept beside the headers. */
export const TDM_FILE = 'tdmrep.json'
export const ROBOTS_FILE = 'robots.txt'

const HEADERS = ['x-robots-tag', 'tdm-reservation', 'tdm-policy', 'content-usage'] as const

/**
 * The headers of a page that state rights, in lower case. Each element was a header of its own.
 * What the host's files say of the page is kept with them: the reservation of tdmrep.json, then its
 * policy; statements of uses in robots.txt, and addresses of licences.
 */
export type RightsHeaders = Partial<Record<(typeof HEADERS)[number] | typeof TDM_FILE | typeof ROBOTS_FILE, string[]>>

/** Adds what the files of its host say of a page to its headers. */
export function withFiles(
  headers: RightsHeaders | null,
  rule: { reservation: string; policy: string | null } | null,
  stated: string[],
): RightsHeaders | null {
  const files: RightsHeaders = {
    ...(rule !== null && { [TDM_FILE]: rule.policy === null ? [rule.reservation] : [rule.reservation, rule.policy] }),
    ...(stated.length > 0 && { [ROBOTS_FILE]: stated }),
  }
  return headers === null && Object.keys(files).length === 0 ? null : { ...headers, ...files }
}

/**
 * Most values of each header, and most characters of a value. More would be kept with every page.
 */
const MOST_HEADERS = 20
const LONGEST = 1_000

/** Takes the headers that state rights out of all headers of an answer; null: there is none. */
export function rightsHeaders(headers: Readonly<Record<string, string | string[] | undefined>>): RightsHeaders | null {
  const kept: RightsHeaders = {}
  for (const [written, value] of Object.entries(headers)) {
    const name = HEADERS.find(name => name === written.toLowerCase())
    if (name === undefined || value === undefined) continue
    kept[name] = [value]
      .flat()
      .slice(0, MOST_HEADERS)
      .map(one => one.slice(0, LONGEST))
  }
  return Object.keys(kept).length === 0 ? null : kept
}

/**
 * The name by which outlets call us: `perscopebot` of `PerscopeBot/1.0 (+https://…)`, and of
 * `Mozilla/5.0 (compatible; PerscopeBot/1.0; +https://…)`, which many robots write.
 */
export function productToken(userAgent: string): string {
  const [, name] = /\bcompatible;\s*([^\s/;()]+)/i.exec(userAgent) ?? /^\s*([^\s/]+)/.exec(userAgent) ?? []
  return name?.toLowerCase() ?? '*'
}

/** A signal that was seen, for operators: what it says, and where. */
export interface Signal {
  /** `noindex`, `max-snippet:50`, `tdm-reservation:1`, `search=n`, `licence:https://…` … */
  signal: string
  source: 'header' | 'meta' | 'element' | 'link' | 'feed' | typeof TDM_FILE | typeof ROBOTS_FILE
}

/** What may be done with a page, by all its signals together. */
export interface Rights {
  /** The signal that forbids an article; null: none does. */
  refusedBy: Signal | null
  /** Most characters of the snippet, 0: none. Null: as many as the contract allows. */
  snippet: number | null
  /** The signal because of which its article is found by words alone; null: by meaning, too. */
  wordsAloneBy: Signal | null
  /** Whether the page may be kept once its article is made. */
  mayKeep: boolean
  /** All signals that have a meaning here, also those that change nothing. */
  seen: Signal[]
}

export const signalInWords = ({ signal, source }: Signal) => `${signal} (${source})`

/** Why there is no article, as the page's `detail`. */
export const refusalInWords = (signal: Signal) => `Its outlet keeps it out of indexes: ${signalInWords(signal)}.`

export const NO_RIGHTS_STATED: Rights = { refusedBy: null, snippet: null, wordsAloneBy: null, mayKeep: true, seen: [] }

/** How signals are read here. */
export type RightsRules = ReturnType<typeof rightsRules>

export const rightsRules = (config: Pick<Config, 'CRAWL_USER_AGENT' | 'RIGHTS_TDM'>) => ({
  /** The name by which outlets call us. */
  agent: productToken(config.CRAWL_USER_AGENT),
  tdm: config.RIGHTS_TDM,
})

/** The signals of one page. */
interface Stated {
  headers: RightsHeaders | null
  /** Content of its meta tags, by name in lower case. */
  metas: ReadonlyMap<string, string[]>
  /** Addresses of `<link rel="license">`. */
  licences: string[]
  /** The page has parts with `data-nosnippet`. */
  hasUnshown: boolean
  /** The operator has a licence of the outlet. */
  isLicensed: boolean
}

/**
 * What the signals of a page say together.
 *
 * @param now the moment that `unavailable_after` is compared with
 */
export function readRights(stated: Stated, { agent, tdm }: RightsRules, now: Date): Rights {
  const signals = new Map<string, Signal>()
  for (const one of [...robotsSignals(stated, agent), ...tdmSignals(stated), ...usageSignals(stated)])
    signals.set(signalInWords(one), one)
  return rightsOf([...signals.values()], tdm, stated.isLicensed, now)
}

/**
 * What follows from signals. A licence, and RIGHTS_TDM `ignore`, outweigh reservations of TDM and
 * of uses, not robots rules.
 *
 * @param tdm RIGHTS_TDM
 */
export function rightsOf(signals: Signal[], tdm: string, isLicensed: boolean, now: Date): Rights {
  const first = (test: (signal: string) => boolean) => signals.find(({ signal }) => test(signal)) ?? null
  const isOver = (signal: string) => {
    const [, until] = /^unavailable_after:(.*)$/.exec(signal) ?? []
    return until !== undefined && Date.parse(until) <= now.getTime()
  }
  const limits = signals.flatMap(({ signal }) => {
    if (signal === 'nosnippet') return [0]
    return signal.startsWith('max-snippet:') ? [Number(signal.slice('max-snippet:'.length))] : []
  })
  const last = signals.findLast(({ signal }) => signal.startsWith('tdm-reservation:'))
  const reserved = last?.signal === 'tdm-reservation:1' ? last : null
  const isOutweighed = isLicensed || tdm === 'ignore'
  const unsearched = first(signal => signal === 'search=n') ?? (tdm === 'refuse' ? reserved : null)
  const unread = first(signal => /^ai-(?:input|use)=n$/.test(signal)) ?? (tdm === 'index-only' ? reserved : null)
  return {
    refusedBy:
      first(signal => signal === 'noindex' || signal === 'none' || isOver(signal)) ??
      (isOutweighed ? null : unsearched),
    snippet: limits.length === 0 ? null : Math.min(...limits),
    wordsAloneBy: isOutweighed ? null : unread,
    mayKeep: first(signal => signal === 'noarchive') === null,
    seen: signals.slice(0, MOST_SEEN),
  }
}

/** Robots rules that have a meaning here, and two that are told to the operator alone. */
function* robotsSignals({ headers, metas, hasUnshown }: Stated, agent: string): Generator<Signal> {
  const named = ['robots', agent].flatMap(name => metas.get(name) ?? [])
  for (const [source, lists] of [['header', headers?.['x-robots-tag'] ?? []] as const, ['meta', named] as const]) {
    for (const { name, value } of lists.flatMap(list => [...rulesIn(list, agent)])) {
      const until = name === 'unavailable_after' ? instantOf(value) : null
      if (PLAIN.has(name)) yield { signal: name, source }
      if (until !== null) yield { signal: `${name}:${until.toISOString()}`, source }
      // -1 means "no limit", and very many pages have it. A value that is no number is ignored.
      if (name === 'max-snippet' && /^\d{1,9}$/.test(value)) yield { signal: `${name}:${value}`, source }
    }
  }
  if (hasUnshown) yield { signal: 'data-nosnippet', source: 'element' }
}

const PLAIN = new Set(['noindex', 'none', 'nosnippet', 'noarchive', 'noai', 'noimageai'])

/** Reservations of text and data mining, in the order in which a later one wins. */
function* tdmSignals({ headers, metas }: Stated): Generator<Signal> {
  const [ofFile, filePolicy] = headers?.[TDM_FILE] ?? []
  const places: [source: Signal['source'], values: string[], policies: string[]][] = [
    [TDM_FILE, [ofFile ?? ''], [filePolicy ?? '']],
    ['header', headers?.['tdm-reservation'] ?? [], headers?.['tdm-policy'] ?? []],
    ['meta', metas.get('tdm-reservation') ?? [], metas.get('tdm-policy') ?? []],
  ]
  for (const [source, values, [policy = '']] of places) {
    const known = values
      .flatMap(value => value.split(','))
      .map(value => value.trim())
      .filter(value => value === '0' || value === '1')
    if (known.length === 0) continue
    // Of two values in one place the strictest holds.
    const reserved = known.includes('1')
    yield { signal: `tdm-reservation:${reserved ? 1 : 0}`, source }
    if (reserved && policy !== '') yield valued('tdm-policy', policy, source)
  }
}

/** Preferences of uses, and licences: information for the operator. */
function* usageSignals({ headers, licences }: Stated): Generator<Signal> {
  for (const [source, statements] of [
    [ROBOTS_FILE, headers?.[ROBOTS_FILE] ?? []] as const,
    ['header', headers?.['content-usage'] ?? []] as const,
  ])
    for (const one of statements) {
      if (/^https?:/i.test(one)) yield valued('licence', one, source)
      else for (const use of usesIn(one)) yield { signal: use, source }
    }
  for (const one of licences) yield valued('licence', one, 'link')
}

/** A signal whose value is text that the outlet wrote. */
export const valued = (name: string, text: string, source: Signal['source']): Signal => ({
  ...{ signal: `${name}:${text.slice(0, LONGEST).replaceAll('\0', '').toWellFormed()}`, source },
})

/** The uses that are told apart, with our name for each. */
const USES: Record<string, string> = {
  ...{ search: 'search', 'ai-input': 'ai-input', 'ai-use': 'ai-use', 'train-ai': 'train-ai', 'ai-train': 'train-ai' },
}

/**
 * The uses that a statement as `search=y, train-ai=n` allows or not. `yes` and `no` are those of
 * Content-Signal. Members that are not understood are ignored.
 */
const usesIn = (statement: string): string[] =>
  statement.split(',').flatMap(member => {
    const [, name = '', value = ''] = /^\s*([a-z-]+)\s*=\s*(y|n|yes|no)\s*(?:;.*)?$/.exec(member) ?? []
    return Object.hasOwn(USES, name) ? [`${USES[name]}=${value[0]}`] : []
  })

/** Signals that are kept of a page; there are fewer kinds than this. */
const MOST_SEEN = 20

interface Rule {
  name: string
  /** After the colon; empty without one. */
  value: string
}

/** Rules with a value after a colon. Any other word before a colon is the name of an agent. */
const VALUED = new Set(['unavailable_after', 'max-snippet', 'max-image-preview', 'max-video-preview'])
const DIRECTIVES = new Set([...VALUED, ...'noindex none nosnippet noarchive nofollow index follow all'.split(' ')])
/** The first half of a date that a comma divides: `Wed, 25 Nov 2026`, `Nov 25, 2026`. */
const HALF_A_DATE = /^(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*|[a-z]{3,9}\.? \d{1,2})$/

/**
 * The rules for us in a list as `noindex, max-snippet:20` or `otherbot: noindex, nosnippet`. The
 * name of an agent holds for all that follows in its list. Blanks and semicolons separate as
 * commas do: sites write them, and nothing else can be meant.
 */
function* rulesIn(list: string, agent: string): Generator<Rule> {
  let isOurs = true
  const parts = list.slice(0, LONGEST).toLowerCase().split(/[,;]/)
  for (let at = 0; at < parts.length; at += 1) {
    let part = halvesOf(parts[at]!)
    for (; part.name !== '' && !VALUED.has(part.name); part = halvesOf(part.rest)) {
      isOurs = isOurName(part.name, agent)
    }
    const { name, rest } = part
    if (name === '') isOurs = addressed(rest, isOurs, agent)
    const isHalf = name === 'unavailable_after' && HALF_A_DATE.test(rest)
    if (isHalf) at += 1
    if (!isOurs) continue
    if (name === 'unavailable_after') yield { name, value: isHalf ? `${rest} ${parts[at]?.trim()}` : rest }
    else yield* (name === '' ? rest : `${name}:${rest}`).split(/\s+/).map(ruleOf)
  }
}

/** The rule in one word: `noindex`, `max-snippet:20`. */
function ruleOf(word: string): Rule {
  const [name = '', value = ''] = word.split(':')
  return { name, value }
}

const isOurName = (name: string, agent: string) => name === '*' || name === 'robots' || productToken(name) === agent

/** `Google Bot: noindex` names an agent, too. `noindex max-snippet:20` names none. */
function addressed(rest: string, isOurs: boolean, agent: string): boolean {
  if (!rest.includes(':')) return isOurs
  const words = rest.split(':', 1)[0]!.split(/[\s|]+/)
  return words.join('') === '' || words.some(word => DIRECTIVES.has(word))
    ? isOurs
    : words.some(word => isOurName(word, agent))
}

/** What stands before the first colon, where that is one word; and the rest. */
function halvesOf(part: string): { name: string; rest: string } {
  const [, name = '', rest = ''] = /^\s*(\d*[a-z*][\w.*/-]*)\s*:(.*)$/s.exec(part) ?? ['', '', part]
  return { name, rest: rest.trim() }
}

const DATE =
  /^(?:\d{4}-\d{2}-\d{2}|(?:[a-z]+ )?\d{1,2}[- ][a-z]{3,9}[- ]\d{2,4}|(?:[a-z]{3} )?[a-z]{3,9}\.? \d{1,2} \d{4})/
const ZONED = /\d:\d{2}(?:\.\d+)?\s*(?:z|gmt|utc?|[ecmp][sd]t|[+-]\d{2}:?\d{2})$/

const EARLIEST = Date.UTC(1990, 0)

/** A date of RFC 822, RFC 850 or ISO 8601, in UTC where no zone is given; null: another. */
function instantOf(written: string): Date | null {
  if (!DATE.test(written)) return null
  const zoned = written
    .replace(/(\d)t(?=\d)/, '$1 ')
    .replace(/\bcet$/, '+0100')
    .replace(/\bcest$/, '+0200')
  const time = Date.parse((ZONED.test(zoned) ? zoned : `${zoned} utc`).toUpperCase())
  // Software writes the year 1970 where it knows no date.
  return time >= EARLIEST ? new Date(time) : null
}

/** A signal that an outlet did not have before, for the operator. */
export interface NewSignal {
  domain: string
  signal: string
  source: string
}

/**
 * Signals that have few values: each value is counted by itself. Of all others, the latest value is
 * kept.
 */
const FEW_VALUES = /^(?:tdm-reservation:|[^:]*$)/

/** The name under which a signal is counted: with its value where the signal has few values. */
export const nameOf = (signal: string) => (FEW_VALUES.test(signal) ? signal : signal.split(':', 1)[0]!)

/**
 * Counts the signals of pages for their outlets. Call it in the transaction that finishes the
 * pages. Rows are written in the order of the key, so that two writers cannot deadlock.
 *
 * @returns signals that their outlet had not sent for a week, or never
 */
export async function noteSignals(db: Queryable, pages: { outletNo: number; seen: Signal[] }[]): Promise<NewSignal[]> {
  const all = pages.flatMap(({ outletNo, seen }) => seen.map(signal => ({ outletNo, ...signal })))
  if (all.length === 0) return []
  const { rows } = await db.query<NewSignal & { is_new: boolean }>(
    `insert into outlet_rights as r (outlet_no, signal, source, value, pages)
     select outlet_no, signal, source, max(value), count(*)
       from unnest($1::int[], $2::text[], $3::text[], $4::text[]) as n (outlet_no, signal, source, value)
      group by 1, 2, 3 order by 1, 2, 3
     on conflict (outlet_no, signal, source) do update
        set pages = case r.source when 'feed' then 1 else r.pages + excluded.pages end, value = excluded.value, last_at = now(),
            first_at = case when r.last_at < now() - interval '${SHOWN_FOR}' then now() else r.first_at end
     returning (select domain from outlets o where o.outlet_no = r.outlet_no) as domain, signal, source,
               first_at = now()::timestamptz(3) as is_new`,
    [
      all.map(one => one.outletNo),
      all.map(({ signal }) => nameOf(signal)),
      all.map(one => one.source),
      all.map(({ signal }) => signal.slice(nameOf(signal).length + 1) || null),
    ],
  )
  return rows.filter(row => row.is_new)
}

/** SQL: an outlet that has not sent a signal for this long sends it no more. */
export const SHOWN_FOR = '7 days'

/** Warns of signals that an outlet did not send before, because they may stop its articles. */
export function warnOfSignals(log: Logger, signals: NewSignal[]): void {
  for (const { domain, ...signal } of signals)
    log.warn({ outlet: domain, ...signal }, 'an outlet states rights that it did not state before')
}
