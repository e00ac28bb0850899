/** What a robots.txt says to us (RFC 9309, and the older Crawl-delay). */
export interface RobotsRules {
  /** Allow and disallow of the groups that name us, or else of those for everybody. */
  rules: Rule[]
  /** ms between two requests; null: nothing said. */
  crawlDelay: number | null
}

interface Rule {
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

/** Reads a robots.txt for one crawler. Groups that name it twice are one group; any byte sequence reads as something. */
export function readRobots(text: string, token: string): RobotsRules {
  const own: RobotsRules = { rules: [], crawlDelay: null }
  const all: RobotsRules = { rules: [], crawlDelay: null }
  let named = false
  let current: RobotsRules[] = []
  let naming = false
  for (const line of text
    .slice(0, ROBOTS_LIMIT)
    .replace(/^\ufeff/, '')
    .split(/\r\n?|\n/)) {
    const [, field = '', written = ''] = /^\s*([a-z-]+)\s*:(.*)$/i.exec(line.split('#', 1)[0] ?? '') ?? []
    const value = written.trim()
    switch (field.toLowerCase()) {
      case 'user-agent': {
        const name = productToken(value)
        if (!naming) current = []
        naming = true
        if (name === token) {
          named = true
          current.push(own)
        } else if (name === '*') current.push(all)
        break
      }
      case 'allow':
      case 'disallow':
        naming = false
        if (value !== '')
          for (const { rules } of current) rules.push({ allow: /^a/i.test(field), pattern: canonical(value) })
        break
      case 'crawl-delay': {
        naming = false
        const delay = value === '' ? Number.NaN : Number(value) * 1_000
        if (delay >= 0) for (const group of current) group.crawlDelay = Math.min(Math.ceil(delay), LONGEST_DELAY)
        break
      }
    }
  }
  return named ? own : all
}

/**
 * Whether an address may be fetched: the longest matching pattern decides, allow among equals. Without one, and for
 * robots.txt itself, it may.
 */
export function isAllowed(rules: Rule[], url: URL): boolean {
  const path = canonical(url.pathname + url.search)
  if (path === '/robots.txt') return true
  let best: Rule | null = null
  for (const rule of rules) {
    const longer = rule.pattern.length - (best?.pattern.length ?? -1)
    if ((longer > 0 || (longer === 0 && rule.allow)) && matches(rule.pattern, path)) best = rule
  }
  return best?.allow ?? true
}

/** As kept in the database: `+/a` allows, `-/b` disallows, one a line. */
export function writeRules(rules: Rule[]): string {
  return rules.map(({ allow, pattern }) => `${allow ? '+' : '-'}${pattern}`).join('\n')
}

export function readRules(written: string): Rule[] {
  return written === ''
    ? []
    : written.split('\n').map(line => ({ allow: line.startsWith('+'), pattern: line.slice(1) }))
}

/** Piece after piece at its first place: linear in the path, whatever the pattern, unlike an expression made from it. */
function matches(pattern: string, path: string): boolean {
  const anchored = pattern.endsWith('$')
  const pieces = (anchored ? pattern.slice(0, -1) : pattern).split('*')
  const [first = '', ...rest] = pieces
  if (!path.startsWith(first)) return false
  const last = rest.pop()
  if (last === undefined) return !anchored || path.length === first.length
  let at = first.length
  for (const piece of rest) {
    const found = path.indexOf(piece, at)
    if (found === -1) return false
    at = found + piece.length
  }
  return anchored ? path.length - last.length >= at && path.endsWith(last) : path.indexOf(last, at) !== -1
}

/** RFC 9309 §2.2.2: octets outside of ASCII escaped, escapes in capitals, unreserved characters plain. */
function canonical(path: string): string {
  return path
    .toWellFormed()
    .replace(/[^\u0021-\u007e]/gu, character => encodeURIComponent(character))
    .replace(/%[0-9a-f]{2}/gi, escaped => {
      const character = String.fromCharCode(Number.parseInt(escaped.slice(1), 16))
      return /[A-Za-z0-9._~-]/.test(character) ? character : escaped.toUpperCase()
    })
}
