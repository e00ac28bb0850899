import { isRecord } from '#shared/encoding/is-record'
import { UsageError } from '#shared/process/command'

/** The fields that a record of another program may have under another name. */
const TARGETS = [
  'id',
  'url',
  'title',
  'body',
  'published_at',
  'ingested_at',
  'authors',
  'outlet_name',
  'outlet_domain',
  'language',
  'country',
  'section',
  'kind',
  'access',
] as const
type Target = (typeof TARGETS)[number]

const isTarget = (name: string): name is Target => TARGETS.some(target => target === name)

/**
 * Columns of Media Cloud's, AmCAT's and 4CAT's exports, and of our own CSV. Of several columns for
 * one field the first counts.
 */
export const KNOWN_COLUMNS: Readonly<Record<string, Target>> = {
  publish_date: 'published_at',
  date: 'published_at',
  timestamp: 'published_at',
  media_name: 'outlet_name',
  publisher: 'outlet_name',
  medium: 'outlet_name',
  outlet_name: 'outlet_name',
  media_url: 'outlet_domain',
  domain: 'outlet_domain',
  outlet_domain: 'outlet_domain',
  headline: 'title',
  subject: 'title',
  text: 'body',
  author: 'authors',
  byline: 'authors',
}

/** How the fields of a record become those of an article. */
export interface Mapping {
  /** Fields of the record by the field that they become. */
  names: Readonly<Record<string, string>>
  /** Values of fields that a record does not have. */
  defaults: Readonly<Record<string, string>>
  /** Whether `KNOWN_COLUMNS` count, and names stand in one text: CSV and JSON arrays. */
  isForeign: boolean
}

/** Lines as export writes them. */
export const AS_EXPORTED: Mapping = { names: {}, defaults: {}, isForeign: false }

/**
 * Reads `--map text=body,…` and `--default country=NL,…`.
 *
 * @throws UsageError
 */
export function readMapping(map: unknown, defaults: unknown, isForeign: boolean): Mapping {
  const names = pairsOf('map', map).map(([from, to]) => [to, from] as const)
  return {
    names: onlyTargets('map', names),
    defaults: onlyTargets('default', pairsOf('default', defaults)),
    isForeign,
  }
}

function pairsOf(option: string, written: unknown): [string, string][] {
  if (typeof written !== 'string') return []
  return written.split(',').map(pair => {
    const at = pair.indexOf('=')
    if (at < 1) throw new UsageError(`--${option} is a list of NAME=VALUE, as text=body.`)
    return [pair.slice(0, at).trim(), pair.slice(at + 1).trim()]
  })
}

function onlyTargets(option: string, pairs: readonly (readonly [string, string])[]) {
  for (const [name] of pairs)
    if (!isTarget(name))
      throw new UsageError(`--${option}: there is no field ${name}; write ${TARGETS.join(', ')}.`)
  return Object.fromEntries(pairs)
}

/** The same record with the names of our fields. */
export function mapped(record: Record<string, unknown>, mapping: Mapping): Record<string, unknown> {
  const { names, defaults, isForeign } = mapping
  const fields = { ...record }
  const known = isForeign ? Object.entries(KNOWN_COLUMNS) : []
  const asked = Object.entries(names).map(([to, from]) => [from, to] as const)
  const found: Record<string, unknown> = {}
  const has = (name: string) => (fields[name] ?? null) !== null
  for (const [from, to] of [...asked, ...known]) {
    // A field of its own name counts before one that is only known to mean it.
    const isTaken = to in found || (names[to] === undefined && from !== to && has(to))
    if (isTaken || !has(from)) continue
    found[to] = fields[from]
    delete fields[from]
  }
  const whole: Record<string, unknown> = { ...fields, ...found }
  for (const [name, value] of Object.entries(defaults))
    if ((whole[name] ?? '') === '') whole[name] = value
  const { outlet_name: name, outlet_domain: domain, ...own } = whole
  if (!isForeign)
    return name === undefined && domain === undefined
      ? own
      : { ...own, outlet: outletOf(own.outlet, name, domain) }
  const { authors, outlet, indexed_date: _indexed, ...rest } = own
  return {
    ...rest,
    authors: typeof authors === 'string' ? authors.split(';').map(one => one.trim()) : authors,
    outlet: outletOf(outlet, name, domain ?? (isRecord(outlet) ? null : own.url)),
  }
}

/** Fields of the outlet that the record states win over fields beside it. */
function outletOf(outlet: unknown, name: unknown, domain: unknown): Record<string, unknown> {
  const own = isRecord(outlet) ? outlet : {}
  return { ...own, name: own.name ?? name ?? null, domain: own.domain ?? hostOf(domain) }
}

/** The host of an address; a text that is no address stays as it is. */
const hostOf = (written: unknown): string | null =>
  typeof written !== 'string'
    ? null
    : (URL.parse(written)?.hostname ?? (written.split('/')[0] || null))
