import { ADDRESS_LIMIT } from '../../../shared/articles/address.ts'

/** What a robots.txt says to us (RFC 9309, and the older Crawl-delay). */
export interface RobotsRules {
  /**
   * Allow and disallow of the groups that name us, or else of those for everybody; see `inOrder`.
   */
  rules: Rule[]
  /** ms between two requests; null: nothing said. */
  crawlDelay: number | null
}

export interface Rule {
  allow: boolean
  /** A path with `*` for anything and `$` for the end, escapes in one spelling. */
  pattern: string
}

/** RFC 9309 §2.5: at least this much must be read; what lies behind it is not. */
export const ROBOTS_LIMIT = 512_000
const LONGEST_DELAY = 86_400_000

/** `PerscopeBot` of `PerscopeBot/1.0 (+https://…)`: the name by which robots.txt calls us. */
export function productToken(userAgent: string): string {
  return /^[^\s/]+/.exec(userAgent.trim())?.[0]?.toLowerCase() ?? '*'
}

/**
 * Reads a robots.txt for one crawler. Groups that name it twice are one group; any byte sequence
 * reads as something.
 */
export function readRobots(text: string, token: string): RobotsRules {
  const own: RobotsRules = { rules: [], crawlDelay: null }
  const all: RobotsRules = { rules: [], crawlDelay: null }
  let named = false
  // A set: a group may name us a thousand times, and each of its rules counts once.
  let current = new Set<RobotsRules>()
  let naming = false
  for (const line of text
    .slice(0, ROBOTS_LIMIT)
    .replace(/^\ufeff/, '')
    .split(/[\r\n]+/)) {
    const [, field = '', written = ''] = /^\s*([a-z-]+)\s*:(.*)$/i.exec(line.split('#', 1)[0] ?? '') ?? []
    const value = written.trim()
    switch (field.toLowerCase()) {
      case 'user-agent': {
        const name = productToken(value)
        if (!naming) current = new Set()
        naming = true
        if (name === token) {
          named = true
          current.add(own)
        } else if (name === '*') current.add(all)
        break
      }
      case 'allow':
      case 'disallow':
        naming = false
        if (value !== '' && current.size > 0) {
          const rule = { allow: /^a/i.test(field), pattern: canonical(value) }
          if (canMatch(rule.pattern)) for (const { rules } of current) rules.push(rule)
        }
        break
      case 'crawl-delay': {
        naming = false
        const delay = value === '' ? Number.NaN : Number(value) * 1_000
        if (delay >= 0) for (const group of current) group.crawlDelay = Math.min(Math.ceil(delay), LONGEST_DELAY)
        break
      }
    }
  }
  const { rules, crawlDelay } = named ? own : all
  return { rules: inOrder(rules), crawlDelay }
}

/**
 * The longest pattern first, allow before disallow among equals: the first that matches decides
 * (RFC 9309 §2.2.2).
 */
const inOrder = (rules: Rule[]) =>
  rules.sort((a, b) => b.pattern.length - a.pattern.length || Number(b.allow) - Number(a.allow))

/** No address is so long that a pattern with more than this in plain characters matches it. */
const canMatch = (pattern: string) =>
  pattern.length <= ADDRESS_LIMIT || pattern.replaceAll('*', '').length <= ADDRESS_LIMIT + 1

/**
 * Characters that are compared for one address: some 40 ms. Ten thousand rules with a wildcard need
 * half of it, or less.
 */
const MOST_WORK = 3_000_000

/**
 * Whether an address may be fetched: the longest matching pattern decides, allow among equals.
 * Without one, and for robots.txt itself, it may. Rules that were made to take seconds are not held
 * against it to the end; then it may not.
 */
export function isAllowed(rules: Rule[], url: URL): boolean {
  const path = canonical(url.pathname + url.search)
  if (path === '/robots.txt') return true
  const work = { left: MOST_WORK }
  for (const { allow, pattern } of rules) {
    if (matches(pattern, path, work)) return allow
    if (work.left < 0) return false
  }
  return true
}

/** As kept in the database: `+/a` allows, `-/b` disallows, one a line. */
export function writeRules(rules: Rule[]): string {
  return rules.map(({ allow, pattern }) => `${allow ? '+' : '-'}${pattern}`).join('\n')
}

export function readRules(written: string): Rule[] {
  return written === ''
    ? []
    : inOrder(written.split('\n').map(line => ({ allow: line.startsWith('+'), pattern: line.slice(1) })))
}

/**
 * Compares character by character, and goes back to the last `*` only: what stands before it has
 * matched at its first place, which leaves the most for the rest. Ends early, with false, when the
 * work is used up.
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
 * RFC 9309 §2.2.2: octets outside of ASCII escaped, escapes in capitals, unreserved characters
 * plain.
 */
function canonical(path: string): string {
  return path
    .toWellFormed()
    .replace(/[^\u0021-\u007e]+/gu, characters => encodeURIComponent(characters))
    .replace(/%[0-9a-f]{2}/gi, escaped => {
      const character = String.fromCharCode(Number.parseInt(escaped.slice(1), 16))
      return /[A-Za-z0-9._~-]/.test(character) ? character : escaped.toUpperCase()
    })
}
