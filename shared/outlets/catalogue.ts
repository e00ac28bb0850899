import { createRequire } from 'node:module'
import type { ErrorObject, ValidateFunction } from 'ajv'
import { offsetFormat } from '#search/query/calendar'
import { addressKey, readAddress } from '#shared/articles/address'
import { COUNTRIES, type Country, LANGUAGES, type Language } from '#shared/articles/article'
import { isRecord } from '#shared/encoding/is-record'
import { describe } from '#shared/log/printable'

/*
 * People write the catalogue. So `readCatalogue` reports all mistakes at once, each with its outlet
 * and field. It corrects a mistake that has only one possible meaning, and adds a note about each
 * correction.
 */

/** One outlet of the catalogue, as in `infra/outlets/*.json`. The domain identifies it. */
export interface Outlet {
  name: string
  /** The domain without `www.`. It includes its subdomains. */
  domain: string
  /**
   * Other hosts with pages of the outlet, each with its subdomains. For a page on any further host,
   * the title, texts, authors, date and language in the feed are not used.
   */
  hosts?: string[]
  country: Country
  languages: Language[]
  /** The IANA name of the time zone in which dates without an offset are read. */
  timeZone: string
  feeds: string[]
  sitemaps: string[]
  /**
   * A licence that allows the operator more than the outlet's TDM reservation does. The text is for
   * people; the code only checks whether there is one.
   */
  licence?: string | null
}

// `readAddress` checks later whether the address can be fetched.
const address = { type: 'string', minLength: 1 }
// A host name in upper or lower case. Tests also use IP addresses and ports.
const host = { type: 'string', minLength: 1, maxLength: 253, pattern: '^[^\\s/@?#]+$' }
const addresses = { type: 'array', items: address, maxItems: 200 }

/** The catalogue file (JSON Schema draft-07): the input of `npm run outlets -- sync FILE`. */
const CATALOGUE_SCHEMA = {
  type: 'object',
  required: ['outlets'],
  properties: {
    outlets: {
      type: 'array',
      maxItems: 100_000,
      items: {
        type: 'object',
        required: ['name', 'domain', 'country', 'languages', 'timeZone'],
        properties: {
          name: { type: 'string', minLength: 1, maxLength: 200, pattern: '\\S' },
          domain: host,
          hosts: { type: 'array', items: host, maxItems: 50 },
          country: { type: 'string', enum: COUNTRIES },
          languages: {
            type: 'array',
            minItems: 1,
            maxItems: LANGUAGES.length,
            items: { type: 'string', enum: LANGUAGES },
          },
          timeZone: { type: 'string', minLength: 1 },
          feeds: addresses,
          sitemaps: addresses,
          licence: { type: 'string', minLength: 1, maxLength: 200, pattern: '\\S' },
          // For readers of the file: what the feeds cover, and the result of a trial; null: not
          // tried.
          sections: { type: 'array', items: { type: 'string', maxLength: 200 }, maxItems: 200 },
          tried: { type: ['object', 'null'] },
        },
      },
    },
  },
} as const

const OUTLET_FIELDS = CATALOGUE_SCHEMA.properties.outlets.items.properties

/** A parsed catalogue, with notes for its author on the mistakes that were corrected. */
export interface Catalogue {
  outlets: Outlet[]
  notes: string[]
}

/** A catalogue that cannot be used. `problems` has one sentence for each mistake. */
export class CatalogueError extends Error {
  override name = 'CatalogueError'
  readonly problems: string[]

  constructor(problems: string[]) {
    const more = problems.length > 20 ? `\nand ${problems.length - 20} more` : ''
    super(problems.slice(0, 20).join('\n') + more)
    this.problems = problems
  }
}

interface Written extends Omit<Outlet, 'feeds' | 'sitemaps'> {
  feeds?: string[]
  tried?: object | null
  sitemaps?: string[]
}

let compiled: ValidateFunction<{ outlets: Written[] }> | undefined

/** The check of the schema, made at its first use: most commands and services read no file. */
function validator() {
  const { Ajv }: typeof import('ajv') = createRequire(import.meta.url)('ajv')
  compiled ??= new Ajv({ allErrors: true, strict: true, verbose: true }).compile(CATALOGUE_SCHEMA)
  return compiled
}

/**
 * Reads a catalogue: `{"outlets": [{"name", "domain", "hosts", "country", "languages", "timeZone",
 * "feeds", "sitemaps"}]}`.
 *
 * @param name of the file, for the error of one that is not JSON
 * @throws CatalogueError that names the outlet and the field of every mistake
 */
export function readCatalogue(text: string, name = 'The catalogue'): Catalogue {
  let file: unknown
  try {
    file = JSON.parse(text.replace(/^\ufeff/, ''))
  } catch (error) {
    throw new CatalogueError([`${name} is not JSON: ${describe(error)}`])
  }
  const validate = validator()
  const problems = validate(file) ? [] : (validate.errors ?? []).map(one => sentence(one, file))
  const written = listed(file)
  for (const [at, outlet] of written.entries()) problems.push(...faultsOf(outlet, nameOf(file, at)))
  const notes = written.flatMap((outlet, at) =>
    Object.keys(isRecord(outlet) ? outlet : {})
      .filter(field => !(field in OUTLET_FIELDS))
      .map(field => `${nameOf(file, at)}: the field "${field}" means nothing here.`),
  )
  if (problems.length > 0) problems.push(...notes)
  const whole = wholeOutlets(written)
  const outlets = whole.map(written => {
    const domain = domainOf(written.domain)
    if (domain !== written.domain.toLowerCase())
      notes.push(`${written.name}: the domain is kept as ${domain}, without "www.".`)
    const { name, country, languages, timeZone, licence, hosts = [] } = written
    return {
      name,
      domain,
      hosts: [...new Set(hosts.map(domainOf))].filter(host => host !== domain).sort(),
      country,
      languages,
      timeZone,
      ...(licence ? { licence } : {}),
      feeds: unique(written.feeds),
      // An address in both lists is polled once, because the crawler recognises the type of a
      // document.
      sitemaps: unique(written.sitemaps).filter(
        address => !unique(written.feeds).includes(address),
      ),
    }
  })
  for (const { domain } of duplicates(outlets))
    problems.push(`${domain} stands twice; an outlet is known by its domain.`)
  for (const { domain, feeds, sitemaps } of outlets) {
    if (feeds.length + sitemaps.length === 0)
      notes.push(`${domain} has neither feeds nor sitemaps: nothing of it is crawled.`)
  }
  const untried = whole.filter(({ tried }) => tried === null).length
  if (untried > 0) {
    notes.push(
      `${untried} ${untried === 1 ? 'outlet is' : 'outlets are'} marked as untried; outlets check FILE --write FILE tries and corrects them.`,
    )
  }
  if (problems.length > 0) throw new CatalogueError(problems)
  return { outlets, notes }
}

const listed = (file: unknown): unknown[] =>
  isRecord(file) && Array.isArray(file.outlets) ? file.outlets : []

/** What the schema does not see: values that look right, and mean nothing. */
function faultsOf(outlet: unknown, name: string): string[] {
  if (!isRecord(outlet)) return []
  const { timeZone: zone, feeds, sitemaps } = outlet
  const isZone = typeof zone !== 'string' || zone === '' || offsetFormat(zone) !== null
  return [
    ...(isZone
      ? []
      : [`${name}: timeZone is "${zone}"; write an IANA name such as Europe/Amsterdam.`]),
    ...[feeds, sitemaps]
      .flat()
      .filter(one => typeof one === 'string' && one !== '' && readAddress(one) === null)
      .map(one => `${name}: "${one}" is no address that can be fetched.`),
  ]
}

/** The outlets that have the form of the schema, so that more of them can be checked. */
function wholeOutlets(outlets: unknown[]): Written[] {
  return outlets.flatMap(outlet => {
    const alone: unknown = { outlets: [outlet] }
    return validator()(alone) ? alone.outlets : []
  })
}

/** A domain or host as a catalogue keeps it. */
export const domainOf = (written: string): string =>
  written
    .toLowerCase()
    .replace(/\.$/, '')
    .replace(/^www\.(?=[^.]+\.)/, '')

function sentence(error: ErrorObject, file: unknown): string {
  const [, , index, ...field] = error.instancePath.split('/')
  if (index === undefined) return 'The file is no catalogue; write {"outlets": [ … ]}.'
  const missing: unknown = error.params.missingProperty
  const allowed: unknown = error.params.allowedValues
  const isItem = /^\d+$/.test(field.at(-1) ?? '')
  const value = isItem || Array.isArray(allowed) ? JSON.stringify(error.data).slice(0, 60) : ''
  const expected = Array.isArray(allowed)
    ? `must be ${isItem ? 'some' : 'one'} of ${allowed.join(', ')}, and not ${value}`
    : `${isItem ? `with ${value} ` : ''}${error.message ?? 'is wrong'}`
  if (typeof missing === 'string')
    return `${nameOf(file, Number(index))}: ${[...field, missing].join(' ')} is missing.`
  return `${nameOf(file, Number(index))}: ${[...(isItem ? field.slice(0, -1) : field), ''].join(' ')}${expected}.`
}

/** The name for an outlet in messages to the author of the file: domain, name, or position. */
function nameOf(file: unknown, index: number): string {
  const outlet = listed(file)[index]
  const place = `outlet ${index + 1}`
  if (!isRecord(outlet)) return place
  if (typeof outlet.domain === 'string') return outlet.domain
  return typeof outlet.name === 'string' ? `${place} (${outlet.name})` : place
}

function duplicates(outlets: Outlet[]): Outlet[] {
  const seen = new Set<string>()
  return outlets.filter(({ domain }) => seen.size === seen.add(domain).size)
}

const unique = (addresses: string[] = []) => [
  ...new Set(addresses.map(address => readAddress(address.replace(/#.*$/s, ''))?.href ?? address)),
]

/** A feed or sitemap of several outlets. Each of its articles is stored once for each outlet. */
export interface SharedFeed {
  url: string
  /** In ascending order; at least two. */
  domains: string[]
}

/**
 * Finds addresses that several outlets have. Spellings that differ only in the scheme, `www.` or
 * tracking parameters count as one address.
 */
export const sharedFeeds = (feeds: Iterable<{ domain: string; url: string }>): SharedFeed[] =>
  [...Map.groupBy(feeds, ({ url }) => addressKey(url)).values()]
    .map(same => ({
      url: same[0]!.url,
      domains: [...new Set(same.map(({ domain }) => domain))].sort(),
    }))
    .filter(({ domains }) => domains.length > 1)

/** All feeds and sitemaps of a catalogue. */
export const feedsOf = (outlets: readonly Outlet[]): { domain: string; url: string }[] =>
  outlets.flatMap(({ domain, feeds, sitemaps }) =>
    [...feeds, ...sitemaps].map(url => ({ domain, url })),
  )

/** A warning about a shared feed, for the author of the catalogue. */
export function sharedFeedSentence({ url, domains }: SharedFeed): string {
  const names = `${domains.slice(0, -1).join(', ')} and ${domains.at(-1)}`
  return `${names} name the same feed ${url}: its articles are stored once for each of them.`
}
