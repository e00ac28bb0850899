import type { Config } from '../config/config.ts'
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
 */

/** The name under which the rule of a host's file is kept beside the headers. */
export const TDM_FILE = 'tdmrep.json'

/**
 * The headers of a page that state rights, in lower case. Each element was a header of its own. The
 * rule of tdmrep.json is kept with them: its reservation, then its policy.
 */
export type RightsHeaders = Partial<
  Record<'x-robots-tag' | 'tdm-reservation' | 'tdm-policy' | typeof TDM_FILE, string[]>
>

export const tdmStated = ({ reservation, policy }: { reservation: string; policy: string | null }) =>
  policy === null ? [reservation] : [reservation, policy]

const HEADERS = ['x-robots-tag', 'tdm-reservation', 'tdm-policy'] as const

/** Of each header. Longer and more ones are cut: they are kept with the page. */
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

/** The name by which outlets call us: `perscopebot` of `PerscopeBot/1.0 (+https://…)`. */
export function productToken(userAgent: string): string {
  return /^[^\s/]+/.exec(userAgent.trim())?.[0]?.toLowerCase() ?? '*'
}

/** A signal that was seen, for operators: what it says, and where. */
export interface Signal {
  /** `noindex`, `max-snippet:50`, `tdm-reservation:1` … */
  signal: string
  source: 'header' | 'meta' | 'element' | typeof TDM_FILE
}

/** What may be done with a page, by all its signals together. */
export interface Rights {
  /** The signal that forbids an article; null: none does. */
  refusedBy: Signal | null
  /** Most characters of the snippet, 0: none. Null: as many as the contract allows. */
  snippet: number | null
  /** Whether its article may be found by meaning, too. */
  vector: boolean
  /** Whether the page may be kept once its article is made. */
  archive: boolean
  /** All signals that have a meaning here, also those that change nothing. */
  seen: Signal[]
}

export const signalInWords = ({ signal, source }: Signal) => `${signal} (${source})`

/** Why there is no article, as the page's `detail`. */
export const refusalInWords = (signal: Signal) => `Its outlet keeps it out of indexes: ${signalInWords(signal)}.`

export const NO_RIGHTS_STATED: Rights = { refusedBy: null, snippet: null, vector: true, archive: true, seen: [] }

/** How signals are read here. */
export interface RightsRules {
  /** Our name, as `productToken` gives it. */
  agent: string
  /** RIGHTS_TDM */
  tdm: string
}

export const rightsRules = (config: Pick<Config, 'CRAWL_USER_AGENT' | 'RIGHTS_TDM'>): RightsRules => ({
  agent: productToken(config.CRAWL_USER_AGENT),
  tdm: config.RIGHTS_TDM,
})

/** The signals of one page. */
interface Stated {
  headers: RightsHeaders | null
  /** Content of its meta tags, by name in lower case. */
  metas: ReadonlyMap<string, string[]>
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
  const { headers, metas, hasUnshown, isLicensed } = stated
  const rulesOf = (lists: string[], source: Signal['source']) =>
    lists.flatMap(list => [...rulesIn(list, agent)].map((rule): Rule => ({ ...rule, source })))
  const named = ['robots', agent].flatMap(name => metas.get(name) ?? [])
  const rules = [...rulesOf(headers?.['x-robots-tag'] ?? [], 'header'), ...rulesOf(named, 'meta')]
  const rights: Rights = { ...NO_RIGHTS_STATED, seen: [] }
  const limitTo = (most: number) => {
    rights.snippet = Math.min(rights.snippet ?? most, most)
  }
  for (const { name, value, source } of rules) {
    const seen = (signal: string): Signal => {
      const known = rights.seen.find(one => one.signal === signal && one.source === source)
      if (known === undefined && rights.seen.length < MOST_SEEN) rights.seen.push({ signal, source })
      return known ?? { signal, source }
    }
    switch (name) {
      case 'noindex':
      case 'none': {
        const signal = seen(name)
        rights.refusedBy ??= signal
        break
      }
      case 'unavailable_after': {
        const until = instantOf(value)
        if (until === null) break
        const signal = seen(`${name}:${until.toISOString()}`)
        if (until.getTime() <= now.getTime()) rights.refusedBy ??= signal
        break
      }
      case 'nosnippet':
        seen(name)
        limitTo(0)
        break
      case 'max-snippet':
        // -1 is "no limit", which very many pages say. What is no number says nothing.
        if (!/^\d{1,9}$/.test(value)) break
        seen(`${name}:${value}`)
        limitTo(Number(value))
        break
      case 'noarchive':
        seen(name)
        rights.archive = false
    }
  }
  if (hasUnshown) rights.seen.push({ signal: 'data-nosnippet', source: 'element' })
  const reserved = readTdm(stated, rights.seen)
  if (reserved !== null && !isLicensed) {
    if (tdm === 'refuse') rights.refusedBy ??= reserved
    if (tdm === 'index-only') rights.vector = false
  }
  return rights
}

/** The signal that reserves text and data mining in the end; null: none does. */
function readTdm({ headers, metas }: Stated, seen: Signal[]): Signal | null {
  const [ofFile, filePolicy] = headers?.[TDM_FILE] ?? []
  const places: [source: Signal['source'], values: string[], policies: string[]][] = [
    [TDM_FILE, [ofFile ?? ''], [filePolicy ?? '']],
    ['header', headers?.['tdm-reservation'] ?? [], headers?.['tdm-policy'] ?? []],
    ['meta', metas.get('tdm-reservation') ?? [], metas.get('tdm-policy') ?? []],
  ]
  let reserved: Signal | null = null
  for (const [source, values, [policy = '']] of places) {
    const known = values.map(value => value.trim()).filter(value => value === '0' || value === '1')
    if (known.length === 0) continue
    // Of two values in one place the strictest holds.
    const signal = { signal: `tdm-reservation:${known.includes('1') ? 1 : 0}`, source }
    seen.push(signal)
    reserved = known.includes('1') ? signal : null
    if (reserved !== null && policy !== '')
      seen.push({ signal: `tdm-policy:${policy.slice(0, LONGEST).toWellFormed()}`, source })
  }
  return reserved
}

/** Signals of a page that are kept: there are not so many kinds. */
const MOST_SEEN = 20

interface Rule {
  name: string
  /** Behind the colon; empty without one. */
  value: string
  source: Signal['source']
}

/** Rules with a value behind a colon. Any other word before a colon is the name of an agent. */
const VALUED = new Set(['unavailable_after', 'max-snippet', 'max-image-preview', 'max-video-preview'])
const DIRECTIVES = new Set([
  ...VALUED,
  'noindex',
  'none',
  'nosnippet',
  'noarchive',
  'nofollow',
  'index',
  'follow',
  'all',
])
/** The first half of a date that a comma divides: `Wed, 25 Nov 2026`, `Nov 25, 2026`. */
const HALF_A_DATE = /^(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*|[a-z]{3,9}\.? \d{1,2})$/

/**
 * The rules for us in a list as `noindex, max-snippet:20` or `otherbot: noindex, nosnippet`. The
 * name of an agent holds for all that follows in its list. Blanks and semicolons separate as
 * commas do: sites write them, and nothing else can be meant.
 */
function* rulesIn(list: string, agent: string): Generator<Omit<Rule, 'source'>> {
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
    if (name !== '') yield { name, value: isHalf ? `${rest} ${parts[at]?.trim()}` : rest }
    else for (const word of rest.split(/\s+/)) yield { name: word, value: '' }
  }
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

const DATE = /^(?:\d{4}-\d{2}-\d{2}|(?:[a-z]+ )?\d{1,2}[- ][a-z]{3,9}[- ]\d{2,4}|[a-z]{3,9}\.? \d{1,2} \d{4})/
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
 * Counts the signals of pages for their outlets. Call it in the transaction that finishes the
 * pages. Rows are written in the order of the key, so that two writers cannot deadlock.
 *
 * @returns signals that their outlet had never sent before
 */
export async function noteSignals(db: Queryable, pages: { outletNo: number; rights: Rights }[]): Promise<NewSignal[]> {
  const all = pages.flatMap(({ outletNo, rights }) => rights.seen.map(signal => ({ outletNo, ...signal })))
  if (all.length === 0) return []
  const { rows } = await db.query<NewSignal & { is_new: boolean }>(
    `insert into outlet_rights as r (outlet_no, signal, source, pages)
     select outlet_no, signal, source, count(*)
       from unnest($1::int[], $2::text[], $3::text[]) as n (outlet_no, signal, source)
      group by 1, 2, 3 order by 1, 2, 3
     on conflict (outlet_no, signal, source) do update set pages = r.pages + excluded.pages, last_at = now()
     returning (select domain from outlets o where o.outlet_no = r.outlet_no) as domain, signal, source,
               xmax = 0 as is_new`,
    // Of `max-snippet:50` the name alone: an outlet has few rows, whatever it writes.
    [all.map(one => one.outletNo), all.map(one => one.signal.split(':', 1)[0]), all.map(one => one.source)],
  )
  return rows.filter(row => row.is_new)
}
