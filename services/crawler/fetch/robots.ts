import { ADDRESS_LIMIT, readAddress } from '#shared/articles/address'
import { type Pool, type Queryable, readRow, readValue } from '#shared/postgres/pool'

/*
 * Rules are read once a day and stored in the database in one canonical form. The matching is our
 * own and limits its work, so that a hostile file cannot stop the crawler.
 */

/** The rules of a robots.txt for one crawler (RFC 9309, and the older Crawl-delay). */
export interface RobotsRules {
  /**
   * The rules of the groups that name us. If no group names us, the rules of the groups for all
   * agents. They are sorted by `inOrder`.
   */
  rules: Rule[]
  /** ms between two requests; null: the file does not say. */
  crawlDelay: number | null
  stated: Statement[]
}

/**
 * A statement of the file about uses (`Content-Usage`, `Content-Signal`) or licences (RSL's
 * `License`).
 */
interface Statement {
  /** A pattern as in a rule; empty: all addresses. */
  pattern: string
  /** `search=y, train-ai=n`, or the address of a licence. */
  text: string
}

interface Rule {
  allow: boolean
  /** A path with `*` for anything and `$` for the end, in the spelling of `patternOf`. */
  pattern: string
}

/**
 * The most bytes that we read of a robots.txt. RFC 9309 §2.5 demands that we read at least as many.
 */
export const ROBOTS_LIMIT = 512_000
const LONGEST_DELAY = 86_400_000

/** One line of a robots.txt. */
type Line =
  /** `names`: in lower case, as written; a line may name several agents. */
  | { kind: 'user-agent'; names: string[] }
  | { kind: 'rule'; allow: boolean; path: string }
  /** `delay` null: the line has no number. */
  | { kind: 'crawl-delay'; delay: number | null }
  /**
   * `as`: whether the statement is a rule of its group, another record of its group, or a licence.
   * A licence is for all agents.
   */
  | { kind: 'stated'; statement: Statement; as: 'rule' | 'record' | 'licence' }
  | { kind: 'other' }

/**
 * The most statements, and the most characters of one, that are stored with every page of the host.
 */
const MOST_STATED = 100
const LONGEST_STATED = 500

/**
 * Reads a robots.txt for one crawler. Several groups that name the crawler are combined. Lines that
 * cannot be understood are ignored, so any text can be read. A group begins with the names of its
 * agents. Only a rule ends these names; other records between them do not (RFC 9309 §2.2.4).
 * `Content-Usage` is a rule (draft-ietf-aipref-attach). A licence is for all agents.
 */
export function readRobots(text: string, token: string): RobotsRules {
  const own: RobotsRules = { rules: [], crawlDelay: null, stated: [] }
  const all: RobotsRules = { rules: [], crawlDelay: null, stated: [] }
  let isNamed = false
  // The groups of the current line. This is a set, because a group may name us a thousand times,
  // and each of its rules counts once.
  let current = new Set<RobotsRules>()
  let hasRules = false
  for (const line of linesOf(text).map(readLine)) {
    if (line.kind === 'other') continue
    if (line.kind === 'user-agent') {
      if (hasRules) current = new Set()
      hasRules = false
      const namesUs = line.names.some(name => isMeant(name, token))
      if (namesUs) current.add(own)
      else if (line.names.some(name => name.startsWith('*'))) current.add(all)
      isNamed ||= namesUs
    } else
      addTo(line.kind === 'stated' && line.as === 'licence' ? new Set([own, all]) : current, line)
    hasRules ||= isRule(line)
  }
  const { rules, crawlDelay, stated } = isNamed ? own : all
  return { rules: inOrder(rules), crawlDelay, stated: stated.slice(0, MOST_STATED) }
}

const isRule = (line: Line) =>
  line.kind === 'rule' || (line.kind === 'stated' && line.as === 'rule')

/**
 * The sitemaps that a robots.txt names. RFC 9309 allows such lines, but does not define them.
 *
 * @param base address of the file; without it, relative addresses are left out
 */
export const sitemapsOf = (text: string, base?: string): URL[] =>
  [...text.matchAll(/^[ \t]*sitemap[ \t]*:[ \t]*(\S+)/gim)]
    .map(([, written = '']) =>
      written.length <= ADDRESS_LIMIT ? readAddress(written, base) : null,
    )
    .filter(url => url !== null)

/**
 * Whether a sitemap lists news. Only its path is checked, because the name of a newspaper's host
 * may always contain "news".
 */
export const isOfNews = ({ pathname }: URL): boolean => /news|nieuws|actu/i.test(pathname)

/**
 * Whether a name in the file means our crawler. A version or a sign may follow our name, but no
 * letters, because these make another crawler's name. A name that ends with `*` means all crawlers
 * whose names begin so.
 */
function isMeant(name: string, token: string): boolean {
  if (name.startsWith(token)) return !/^[a-z_-]/.test(name.slice(token.length))
  const beginning = /^([a-z_-]{3,})\*/.exec(name)?.[1]
  return beginning !== undefined && token.startsWith(beginning)
}

const linesOf = (text: string) =>
  text
    .slice(0, ROBOTS_LIMIT)
    .replace(/^[\ufeff\u200b]+/, '')
    .split(/[\r\n]+/)

/**
 * Reads one line. The misspelt fields that it accepts are those that Google's parser knows
 * (google/robotstxt).
 */
function readLine(line: string): Line {
  const text = line.split('#', 1)[0] ?? ''
  const colon = text.indexOf(':')
  const [, field = '', written = ''] =
    colon >= 0
      ? ['', text.slice(0, colon).trim(), text.slice(colon + 1)]
      : (WITHOUT_COLON.exec(text) ?? [])
  const value = written.trim()
  if (/^user[ -]?agent$/i.test(field)) return { kind: 'user-agent', names: namesOf(value) }
  if (RULE.test(field)) return { kind: 'rule', allow: /^a/i.test(field), path: value }
  if (/^crawl-?delay$/i.test(field)) {
    // Some files write `1,5`, `"10"`, `10s` or `500ms`.
    const delay =
      Number.parseFloat(value.replace(',', '.').replaceAll('"', '')) *
      (/\d\s*mi?[ls]/i.test(value) ? 1 : 1_000)
    return {
      kind: 'crawl-delay',
      delay: delay >= 0 ? Math.min(Math.ceil(delay), LONGEST_DELAY) : null,
    }
  }
  if (/^content-(?:usage|signal)$/i.test(field)) {
    const [, pattern = '', said = ''] =
      /^(\/\S*)?\s*(.*)$/.exec(value.slice(0, LONGEST_STATED)) ?? []
    const text = said.replace(/[^\u0020-\u007e]/g, '').trim()
    const as = /usage$/i.test(field) ? 'rule' : 'record'
    return { kind: 'stated', statement: { pattern: patternOf(pattern), text }, as }
  }
  const isLicence = /^license$/i.test(field) && /^https?:\/\/[\u0021-\u007e]+$/i.test(value)
  if (!isLicence || value.length > LONGEST_STATED) return { kind: 'other' }
  return { kind: 'stated', statement: { pattern: '', text: value }, as: 'licence' }
}

const RULE = /^(?:allow|diss?allow|dissalow|disalow|diasllow|disallaw)$/i

/** A field and one word without the colon that RFC 9309 demands. */
const WITHOUT_COLON = /^\s*(user-?agent|disallow|allow)[ \t]+(\S+)\s*$/i

/**
 * The agents of a line. RFC 9309 allows one agent, but files name several, with signs between them.
 */
const namesOf = (value: string) =>
  value
    .toLowerCase()
    .split(/[\s,;|"'()]+/)
    .filter(name => name !== '')

function addTo(
  groups: Set<RobotsRules>,
  line: Exclude<Line, { kind: 'user-agent' | 'other' }>,
): void {
  for (const group of groups) {
    if (line.kind === 'stated') group.stated.push(line.statement)
    else if (line.kind === 'crawl-delay') group.crawlDelay = line.delay ?? group.crawlDelay
    else if (line.path !== '') {
      // Some files write whole addresses; RFC 9309 asks for paths.
      const pattern = patternOf(line.path.replace(/^https?:\/\/[^/]+(?=\/)/i, ''))
      if (canMatch(pattern)) group.rules.push({ allow: line.allow, pattern })
    }
  }
}

/**
 * Sorts rules by precedence: the longest pattern first, allow before disallow among equals. The
 * first rule that matches then decides (RFC 9309 §2.2.2).
 */
const inOrder = (rules: Rule[]) =>
  rules.sort((a, b) => b.pattern.length - a.pattern.length || Number(b.allow) - Number(a.allow))

/**
 * Whether a pattern can match any address. It cannot if its plain characters alone are longer than
 * an address may be.
 */
const canMatch = (pattern: string) =>
  pattern.length <= ADDRESS_LIMIT || pattern.replaceAll('*', '').length <= ADDRESS_LIMIT + 1

/**
 * The most characters that are compared for one address. Ten thousand rules with a wildcard need
 * half of this or less.
 */
const MOST_WORK = 3_000_000

/**
 * Whether an address may be fetched. The longest matching pattern decides; among equally long ones,
 * allow wins. An address without a matching rule is allowed, and so is robots.txt itself. When the
 * rules need more than `MOST_WORK`, the address is not allowed.
 */
export function isAllowed(rules: Rule[], url: URL): boolean {
  const path = pathOf(url)
  if (path === '/robots.txt') return true
  const work = { left: MOST_WORK }
  for (const { allow, pattern } of rules) {
    if (matches(pattern, path, work)) return allow
    if (work.left < 0) return false
  }
  return true
}

/**
 * Whether patterns of another file, in the syntax of robots.txt, match an address. Null: the
 * patterns together needed more than `MOST_WORK`, so the result is unknown.
 */
export function pathMatcher(url: URL): (pattern: string) => boolean | null {
  const path = pathOf(url)
  const work = { left: MOST_WORK }
  return pattern => {
    const isMatched =
      /^[/*]/.test(pattern) && work.left >= 0 && matches(patternOf(pattern), path, work)
    return work.left < 0 ? null : isMatched
  }
}

/**
 * The statements of a robots.txt about an address, beside its rules. Of the matching statements
 * about uses, only those with the longest pattern count (draft-ietf-aipref-attach). This is decided
 * separately for `Content-Usage` and `Content-Signal`. All matching licences count.
 */
export function statedOf(stated: Statement[], url: URL): string[] {
  const isMatched = pathMatcher(url)
  const meant = stated.filter(({ pattern }) => pattern === '' || isMatched(pattern))
  const kindOf = ({ text }: Statement) =>
    /^https?:/i.test(text) ? 'licence' : SIGNAL.test(text) ? 'signal' : 'usage'
  const longest = (kind: string) =>
    Math.max(...meant.filter(one => kindOf(one) === kind).map(({ pattern }) => pattern.length))
  return meant
    .filter(one => kindOf(one) === 'licence' || one.pattern.length === longest(kindOf(one)))
    .map(({ text }) => text)
}
/** Recognises a `Content-Signal`, which writes `yes` or `no`. `Content-Usage` writes `y` or `n`. */
const SIGNAL = /=\s*(?:yes|no)\b/

/** The stored statements of a host's robots.txt, beside its rules. */
export async function recallStated(db: Queryable, host: string): Promise<Statement[]> {
  const robots = await readValue<string>(db, 'select robots from hosts where host = $1', [host])
  const lines = (robots ?? '').split('\n').filter(line => line.startsWith('='))
  return lines.map(line => ({
    pattern: line.slice(1, line.indexOf(' ')),
    text: line.slice(line.indexOf(' ') + 1),
  }))
}

/**
 * Rules in the form that the database stores, one a line: `+/a` allows, `-/b` disallows, and `=/c
 * search=n` states something about `/c`.
 */
const writeRules = ({ rules, stated }: Omit<RobotsRules, 'crawlDelay'>): string =>
  [
    ...rules.map(({ allow, pattern }) => `${allow ? '+' : '-'}${pattern}`),
    ...stated.map(({ pattern, text }) => `=${pattern} ${text}`),
  ].join('\n')

function readRules(written: string): Rule[] {
  const lines = written.split('\n').filter(line => /^[+-]/.test(line))
  return inOrder(lines.map(line => ({ allow: line.startsWith('+'), pattern: line.slice(1) })))
}

/**
 * Compares a pattern with a path, character by character. On a mismatch it goes back only to the
 * last `*`. Everything before that `*` has matched as early as possible, so the longest possible
 * path remains. Returns false early when the work is used up.
 */
function matches(pattern: string, path: string, work: { left: number }): boolean {
  const anchored = pattern.endsWith('$')
  const end = anchored ? pattern.length - 1 : pattern.length
  let at = 0
  let wildcard = -1
  let resume = 0
  let place = 0
  for (; place < path.length; work.left -= 1) {
    if (work.left < 0) return false
    if (at === end && !anchored) return true
    if (at < end && pattern.charCodeAt(at) === WILDCARD) {
      wildcard = at
      resume = place
      at += 1
    } else if (at < end && pattern.charCodeAt(at) === path.charCodeAt(place)) {
      at += 1
      place += 1
    } else if (wildcard >= 0) {
      resume += 1
      place = resume
      at = wildcard + 1
    } else return false
  }
  while (at < end && pattern.charCodeAt(at) === WILDCARD) at += 1
  return at === end
}

const WILDCARD = 0x2a

/**
 * The path and query of an address, in the spelling in which patterns are compared. A bare `?` at
 * the end is kept.
 */
const pathOf = ({ href, pathname, search }: URL) =>
  withLiterals(
    canonical(pathname + (search || (/^[^#?]*\?(?:#|$)/.test(href) ? '?' : ''))),
    /\*|%2A/g,
    /\$|%24/g,
  )

/** A pattern in one spelling. `$` has its special meaning only at the end. */
const patternOf = (written: string) => withLiterals(canonical(written), /%2A/g, /\$(?!$)|%24/g)

/**
 * Replaces `*` and `$`, where they stand for themselves (RFC 9309 §2.2.3), by characters that no
 * path contains.
 */
const withLiterals = (path: string, stars: RegExp, dollars: RegExp) =>
  path.replace(stars, '\u0001').replace(dollars, '\u0002')

/**
 * Converts a path to one spelling (RFC 9309 §2.2.2): octets outside of ASCII escaped, escapes in
 * capitals, unreserved characters plain.
 */
const canonical = (path: string): string =>
  path
    .toWellFormed()
    .replace(/[^\u0021-\u007e]+/gu, characters => encodeURIComponent(characters))
    .replace(/%[0-9a-f]{2}/gi, escaped => {
      const character = String.fromCharCode(Number.parseInt(escaped.slice(1), 16))
      return /[A-Za-z0-9._~-]/.test(character) ? character : escaped.toUpperCase()
    })

export interface RobotsKnown {
  kind: 'known'
  rules: Rule[]
}

/**
 * The robots.txt is unreachable. Nothing may be fetched for `wait` ms, then it is requested again.
 */
export interface RobotsBlocked {
  kind: 'blocked'
  wait: number
  detail: string
}

/** The state of a host's robots.txt in the database. */
export type KnownRobots = RobotsKnown | RobotsBlocked | { kind: 'unknown'; failures: number }

/** ms for which a robots.txt is kept. RFC 9309 §2.4 allows a day at most. */
const KEEP = 86_400_000

export async function recallRobots(pool: Pool, host: string): Promise<KnownRobots> {
  const row = await readRow<Row>(
    pool,
    `select robots, robots_blocked as blocked, robots_failures as failures, last_error as error,
            extract(epoch from robots_until - clock_timestamp())::float8 * 1000 as left
       from hosts where host = $1`,
    [host],
  )
  if (row === undefined) return { kind: 'unknown', failures: 0 }
  if (row.left <= 0) return { kind: 'unknown', failures: row.failures }
  if (row.blocked)
    return { kind: 'blocked', wait: row.left, detail: row.error ?? 'robots.txt does not answer' }
  return { kind: 'known', rules: readRules(row.robots ?? '') }
}

interface Row {
  robots: string | null
  blocked: boolean
  failures: number
  error: string | null
  left: number
}

/**
 * Saves the rules of a robots.txt. From this moment on, its Crawl-delay applies. `delay`:
 * CRAWL_HOST_DELAY.
 */
export async function rememberRobots(
  pool: Pool,
  host: string,
  { rules, crawlDelay, stated }: RobotsRules,
  delay: number,
  newsSitemap: string | null,
): Promise<RobotsKnown> {
  await pool.query(
    `update hosts
        set robots = $2, crawl_delay = $3::int, robots_until = clock_timestamp() + $4 * interval '1 ms',
            robots_blocked = false, robots_failures = 0, news_sitemap = $6,
            free_at = greatest(free_at, clock_timestamp() + (1 + $5::int) * interval '1 ms')
      where host = $1`,
    [
      host,
      writeRules({ rules, stated }),
      crawlDelay,
      KEEP,
      Math.max(delay, crawlDelay ?? 0),
      newsSitemap,
    ],
  )
  return { kind: 'known', rules }
}

/**
 * Records that a robots.txt could not be read. Nothing is fetched from the host until it can be
 * read (RFC 9309 §2.3.1.4).
 */
export async function rememberUnreachable(
  pool: Pool,
  host: string,
  wait: number,
  detail: string,
): Promise<RobotsBlocked> {
  await pool.query(
    `update hosts
        set robots_until = clock_timestamp() + $2 * interval '1 ms', robots_blocked = true,
            robots_failures = robots_failures + 1, last_error = $3
      where host = $1`,
    [host, wait, detail],
  )
  return { kind: 'blocked', wait, detail }
}
