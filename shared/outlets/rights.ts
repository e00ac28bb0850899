import type { Config } from '#shared/config/config'
import type { Logger } from '#shared/log/logger'
import type { Queryable } from '#shared/postgres/pool'

/*
 * The rights that outlets reserve in machine-readable ways. This file reads headers, meta tags and
 * files, and decides what follows from all of them together.
 *
 * Robots rules: `X-Robots-Tag` and `<meta name="robots">`, as Google and MDN describe them. Among
 * rules for all robots and rules for us, the strictest one holds.
 *
 * TDM: the W3C community group's "TDM Reservation Protocol". It gives the order file, header, page:
 * the later statement wins, and a missing one changes nothing. Values other than 0 and 1 count as
 * missing.
 *
 * Uses: `Content-Usage` of robots.txt and header (draft-ietf-aipref-attach and -vocab), and
 * `Content-Signal` of robots.txt (contentsignals.org), which calls itself a reservation of TDM. Of
 * several statements the strictest holds, as -vocab asks.
 */

/** The names under which the rules of a host's files are stored beside the headers. */
export const TDM_FILE = 'tdmrep.json'
export const ROBOTS_FILE = 'robots.txt'

const HEADERS = ['x-robots-tag', 'tdm-reservation', 'tdm-policy', 'content-usage', 'link'] as const

/**
 * The headers of a page that state rights, by name in lower case. Each element is one header. Two
 * names have the statements of the host's files about the page. For tdmrep.json: its reservation,
 * then its policy. For robots.txt: statements of uses, and addresses of licences.
 */
export type RightsHeaders = Partial<
  Record<(typeof HEADERS)[number] | typeof TDM_FILE | typeof ROBOTS_FILE, string[]>
>

/** Adds the statements of a host's files about a page to the headers of the page. */
export function withFiles(
  headers: RightsHeaders | null,
  rule: { reservation: string; policy: string | null } | null,
  stated: string[],
): RightsHeaders | null {
  const files: RightsHeaders = {
    ...(rule !== null && {
      [TDM_FILE]: rule.policy === null ? [rule.reservation] : [rule.reservation, rule.policy],
    }),
    ...(stated.length > 0 && { [ROBOTS_FILE]: stated }),
  }
  return headers === null && Object.keys(files).length === 0 ? null : { ...headers, ...files }
}

/**
 * The most values of each header, and the most characters of a value, because they are stored with
 * every page.
 */
const MOST_HEADERS = 20
const LONGEST = 1_000

/** The links of a header that lead to a licence or to the article's own address (RFC 8288). */
const STATED_LINK =
  /<[^<>]{1,1000}>[^<>]{0,200};\s*rel\s*=\s*(?:"[^"<>]{0,100})?\b(?:license|canonical)\b/gi

/** The addresses of a page's `Link` headers with this relation. */
export const linksOf = (headers: RightsHeaders | null, relation: string): string[] =>
  (headers?.link ?? []).flatMap(link =>
    link.toLowerCase().endsWith(relation) ? link.slice(1, link.indexOf('>')) : [],
  )

/** Selects the headers that state rights from all headers of an answer; null: there are none. */
export function rightsHeaders(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): RightsHeaders | null {
  const kept: RightsHeaders = {}
  for (const [written, value] of Object.entries(headers)) {
    const name = HEADERS.find(name => name === written.toLowerCase())
    if (name === undefined || value === undefined) continue
    const values = [value]
      .flat()
      .flatMap(one => (name === 'link' ? (one.match(STATED_LINK) ?? []) : one))
    if (values.length === 0) continue
    kept[name] = values.slice(0, MOST_HEADERS).map(one => one.slice(0, LONGEST))
  }
  return Object.keys(kept).length === 0 ? null : kept
}

/** The page for publishers about our robot. */
export const BOT_PATH = '/bot'

/**
 * The name by which outlets address our robot. It is `perscopebot` for
 * `PerscopeBot/1.0 (+https://…)`, and also in a form that many robots use:
 * `Mozilla/5.0 (compatible; PerscopeBot/1.0; +https://…)`.
 */
export function productToken(userAgent: string): string {
  const [, name] =
    /\bcompatible;\s*([^\s/;()]+)/i.exec(userAgent) ?? /^\s*([^\s/]+)/.exec(userAgent) ?? []
  return name?.toLowerCase() ?? '*'
}

/** A signal that a page has: what it says, and where it stands. Operators see it. */
export interface Signal {
  /** `noindex`, `max-snippet:50`, `tdm-reservation:1`, `search=n`, `licence:https://…` … */
  signal: string
  source: 'header' | 'meta' | 'element' | 'link' | 'feed' | typeof TDM_FILE | typeof ROBOTS_FILE
}

/** The permitted uses of a page, by all its signals together. */
export interface Rights {
  /** The signal that forbids an article; null: no signal forbids it. */
  refusedBy: Signal | null
  /** The most characters of the snippet, 0: no snippet. Null: as many as the contract allows. */
  snippet: number | null
  /**
   * The signal because of which only words find the article; null: search by meaning finds it too.
   */
  wordsAloneBy: Signal | null
  /** Whether we may keep the page after its article was made. */
  mayKeep: boolean
  /** All signals that have a meaning here, including those that change nothing. */
  seen: Signal[]
}

export const signalInWords = ({ signal, source }: Signal): string => `${signal} (${source})`

/** Why there is no article, for the `detail` of the page. */
export const refusalInWords = (signal: Signal): string =>
  `Its outlet keeps it out of indexes: ${signalInWords(signal)}.`

export const NO_RIGHTS_STATED: Rights = {
  refusedBy: null,
  snippet: null,
  wordsAloneBy: null,
  mayKeep: true,
  seen: [],
}

/** The settings by which signals are read. */
export interface RightsRules {
  /** The name by which outlets address our robot (`productToken`). */
  agent: string
  tdm: string
}

export const rightsRules = (
  config: Pick<Config, 'CRAWL_USER_AGENT' | 'RIGHTS_TDM'>,
): RightsRules => ({
  agent: productToken(config.CRAWL_USER_AGENT),
  tdm: config.RIGHTS_TDM,
})

/** The statements of one page, from which its signals are read. */
interface Stated {
  headers: RightsHeaders | null
  /** The contents of its meta tags, by name in lower case. */
  metas: ReadonlyMap<string, string[]>
  /** Addresses of `<link rel="license">`. */
  licences: string[]
  /** Whether parts of the page have `data-nosnippet`. */
  hasUnshown: boolean
  /** Whether the operator has a licence from the outlet. */
  isLicensed: boolean
}

/**
 * Reads the signals of a page, and decides what follows from all of them.
 *
 * @param now `unavailable_after` is compared with this moment
 */
export function readRights(stated: Stated, { agent, tdm }: RightsRules, now: Date): Rights {
  const signals = new Map<string, Signal>()
  for (const one of [
    ...robotsSignals(stated, agent),
    ...tdmSignals(stated),
    ...usageSignals(stated),
  ])
    signals.set(signalInWords(one), one)
  return rightsOf([...signals.values()], tdm, stated.isLicensed, now)
}

/**
 * Decides what follows from signals. A licence, or RIGHTS_TDM `ignore`, outweighs reservations of
 * TDM and of uses, but not robots rules.
 *
 * @param tdm RIGHTS_TDM
 */
export function rightsOf(signals: Signal[], tdm: string, isLicensed: boolean, now: Date): Rights {
  const first = (test: (signal: string) => boolean) =>
    signals.find(({ signal }) => test(signal)) ?? null
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
  const unread =
    first(signal => /^ai-(?:input|use)=n$/.test(signal)) ?? (tdm === 'index-only' ? reserved : null)
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

/** Robots rules that have a meaning here, and two that only the operator sees. */
function* robotsSignals({ headers, metas, hasUnshown }: Stated, agent: string): Generator<Signal> {
  const named = ['robots', agent].flatMap(name => metas.get(name) ?? [])
  for (const [source, lists] of [
    ['header', headers?.['x-robots-tag'] ?? []] as const,
    ['meta', named] as const,
  ]) {
    for (const { name, value } of lists.flatMap(list => [...rulesIn(list, agent)])) {
      const until = name === 'unavailable_after' ? instantOf(value) : null
      if (PLAIN.has(name)) yield { signal: name, source }
      if (until !== null) yield { signal: `${name}:${until.toISOString()}`, source }
      // -1 means "no limit", and very many pages have it. It is ignored, like a value that is no
      // number.
      if (name === 'max-snippet' && /^\d{1,9}$/.test(value))
        yield { signal: `${name}:${value}`, source }
    }
  }
  if (hasUnshown) yield { signal: 'data-nosnippet', source: 'element' }
}

const PLAIN = new Set(['noindex', 'none', 'nosnippet', 'noarchive', 'noai', 'noimageai'])

/** Reservations of text and data mining. If several places have one, the last of them wins. */
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
    // If one place has two values, the stricter one holds.
    const reserved = known.includes('1')
    yield { signal: `tdm-reservation:${reserved ? 1 : 0}`, source }
    if (reserved && policy !== '') yield valued('tdm-policy', policy, source)
  }
}

/** Preferences of uses, and licences. Licences only inform the operator. */
function* usageSignals({ headers, licences }: Stated): Generator<Signal> {
  for (const [source, statements] of [
    [ROBOTS_FILE, headers?.[ROBOTS_FILE] ?? []] as const,
    ['header', headers?.['content-usage'] ?? []] as const,
  ])
    for (const one of statements) {
      if (/^https?:/i.test(one)) yield valued('licence', one, source)
      else for (const use of usesIn(one)) yield { signal: use, source }
    }
  for (const one of linksOf(headers, 'license')) yield valued('licence', one, 'header')
  for (const one of licences) yield valued('licence', one, 'link')
}

/** A signal with a value that the outlet wrote as free text. */
export const valued = (name: string, text: string, source: Signal['source']): Signal => ({
  signal: `${name}:${text.slice(0, LONGEST).replaceAll('\0', '').toWellFormed()}`,
  source,
})

/** The uses that have a meaning here, with our name for each. */
const USES: Record<string, string> = {
  search: 'search',
  'ai-input': 'ai-input',
  'ai-use': 'ai-use',
  'train-ai': 'train-ai',
  'ai-train': 'train-ai',
}

/**
 * The uses that a statement such as `search=y, train-ai=n` allows or forbids. Content-Signal writes
 * `yes` and `no`. Unknown members are ignored.
 */
const usesIn = (statement: string): string[] =>
  statement.split(',').flatMap(member => {
    const [, name = '', value = ''] =
      /^\s*([a-z-]+)\s*=\s*(y|n|yes|no)\s*(?:;.*)?$/.exec(member) ?? []
    return Object.hasOwn(USES, name) ? [`${USES[name]}=${value[0]}`] : []
  })

/** The most signals that are kept of a page. There are fewer kinds than this. */
const MOST_SEEN = 20

interface Rule {
  name: string
  /** The text after the colon; empty without a colon. */
  value: string
}

/** Rules that have a value after a colon. Any other word before a colon is the name of a robot. */
const VALUED = new Set([
  'unavailable_after',
  'max-snippet',
  'max-image-preview',
  'max-video-preview',
])
const DIRECTIVES = new Set([
  ...VALUED,
  ...'noindex none nosnippet noarchive nofollow index follow all'.split(' '),
])
/** The part before the comma of a date that has one: `Wed, 25 Nov 2026`, `Nov 25, 2026`. */
const HALF_A_DATE = /^(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*|[a-z]{3,9}\.? \d{1,2})$/

/**
 * The rules for us in a list such as `noindex, max-snippet:20` or `otherbot: noindex, nosnippet`.
 * The name of a robot applies to all later rules of its list. Blanks and semicolons separate rules
 * like commas: sites write them, and they can have no other meaning.
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
    if (name === 'unavailable_after')
      yield { name, value: isHalf ? `${rest} ${parts[at]?.trim()}` : rest }
    else yield* (name === '' ? rest : `${name}:${rest}`).split(/\s+/).map(ruleOf)
  }
}

/** Reads a rule that is one word, such as `noindex` or `max-snippet:20`. */
function ruleOf(word: string): Rule {
  const [name = '', value = ''] = word.split(':')
  return { name, value }
}

const isOurName = (name: string, agent: string) =>
  name === '*' || name === 'robots' || productToken(name) === agent

/**
 * Whether a rule is for us. `Google Bot: noindex` names another robot. `noindex max-snippet:20`
 * names none.
 */
function addressed(rest: string, isOurs: boolean, agent: string): boolean {
  if (!rest.includes(':')) return isOurs
  const words = rest.split(':', 1)[0]!.split(/[\s|]+/)
  return words.join('') === '' || words.some(word => DIRECTIVES.has(word))
    ? isOurs
    : words.some(word => isOurName(word, agent))
}

/** The text before the first colon, if it is one word; and the rest. */
function halvesOf(part: string): { name: string; rest: string } {
  const [, name = '', rest = ''] = /^\s*(\d*[a-z*][\w.*/-]*)\s*:(.*)$/s.exec(part) ?? ['', '', part]
  return { name, rest: rest.trim() }
}

const DATE =
  /^(?:\d{4}-\d{2}-\d{2}|(?:[a-z]+ )?\d{1,2}[- ][a-z]{3,9}[- ]\d{2,4}|(?:[a-z]{3} )?[a-z]{3,9}\.? \d{1,2} \d{4})/
const ZONED = /\d:\d{2}(?:\.\d+)?\s*(?:z|gmt|utc?|[ecmp][sd]t|[+-]\d{2}:?\d{2})$/

const EARLIEST = Date.UTC(1990, 0)

/**
 * Reads a date of RFC 822, RFC 850 or ISO 8601, in UTC if it has no time zone; null: another text.
 */
function instantOf(written: string): Date | null {
  if (!DATE.test(written)) return null
  const zoned = written
    .replace(/(\d)t(?=\d)/, '$1 ')
    .replace(/\bcet$/, '+0100')
    .replace(/\bcest$/, '+0200')
  const time = Date.parse((ZONED.test(zoned) ? zoned : `${zoned} utc`).toUpperCase())
  // Some software writes the year 1970 when it knows no date.
  return time >= EARLIEST ? new Date(time) : null
}

/** A signal that an outlet did not send before, for a warning to the operator. */
export interface NewSignal {
  domain: string
  signal: string
  source: string
}

/**
 * Signals that have few values: each value is counted by itself. For other signals, only the latest
 * value is kept.
 */
const FEW_VALUES = /^(?:tdm-reservation:|[^:]*$)/

/** The name under which a signal is counted. It includes the value if the signal has few values. */
export const nameOf = (signal: string): string =>
  FEW_VALUES.test(signal) ? signal : signal.split(':', 1)[0]!

/**
 * Counts the signals of pages for their outlets. The caller runs this in the transaction that
 * finishes the pages. Rows are written in the order of the key, so that two writers cannot
 * deadlock.
 *
 * @returns signals that their outlet had not sent for a week, or never
 */
export async function noteSignals(
  db: Queryable,
  pages: { outletNo: number; seen: Signal[] }[],
): Promise<NewSignal[]> {
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

/** SQL: if an outlet has not sent a signal for this long, it is not shown any more. */
export const SHOWN_FOR = '7 days'

/** Warns of signals that an outlet did not send before. They may stop its articles. */
export function warnOfSignals(log: Logger, signals: NewSignal[]): void {
  for (const { domain, ...signal } of signals)
    log.warn({ outlet: domain, ...signal }, 'an outlet states rights that it did not state before')
}
