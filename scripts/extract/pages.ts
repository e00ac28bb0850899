import { judge, NO_WORDS } from '../../services/crawler/pages/verdict.ts'
import type { Composition } from '../../services/normaliser/compose/article.ts'
import { openComposer } from '../../services/normaliser/composer.ts'
import { isOften } from '../../services/normaliser/interstitials/served.ts'
import { EMPTY_TEMPLATE, learn, type Template, teaches } from '../../services/normaliser/template.ts'
import { readAddress } from '../../shared/articles/address.ts'
import { COUNTRIES, type Country, LANGUAGES } from '../../shared/articles/article.ts'
import { snippetOf } from '../../shared/articles/snippet.ts'
import type { Config } from '../../shared/config/config.ts'
import type { FeedEntry, StoredPage } from '../../shared/outlets/page.ts'
import type { CommandContext } from '../../shared/process/command.ts'
import { bytesOf, optional, type Reader, readerOf, text, texts } from './line.ts'

interface PageLine {
  url: string
  html?: string | null
  file?: string | null
  status?: number | null
  headers?: Record<string, string | string[]> | null
  entry?: Partial<FeedEntry> | null
  outlet?: Partial<StoredPage['outlet']> | null
  now?: string | null
}

const readPageLine = readerOf<PageLine>({
  type: 'object',
  required: ['url'],
  properties: {
    url: text,
    html: optional,
    file: optional,
    status: { type: 'integer', minimum: 100, maximum: 599, nullable: true },
    headers: { type: 'object', required: [], additionalProperties: { anyOf: [text, texts] }, nullable: true },
    entry: {
      type: 'object',
      nullable: true,
      required: [],
      properties: {
        url: optional,
        ...{ guid: optional, title: optional, summary: optional, content: optional },
        ...{ authors: { ...texts, nullable: true }, published: optional, language: optional },
      },
    },
    outlet: {
      type: 'object',
      nullable: true,
      required: [],
      properties: {
        ...{ name: optional, domain: optional, timeZone: optional },
        country: { type: 'string', enum: COUNTRIES, nullable: true },
        languages: { type: 'array', items: { type: 'string', enum: LANGUAGES }, nullable: true },
        hosts: { ...texts, nullable: true },
        ...{ feeds: { ...texts, nullable: true }, sitemaps: { ...texts, nullable: true } },
      },
    },
    now: optional,
  },
})

/** What the earlier lines of one outlet taught, with `--together`. */
interface Taught {
  template: Template
  pages: number
  /** How often each text was served, by its fingerprint. */
  served: Map<string, number>
}

/**
 * Reads pages as the crawler judges and the normaliser reads them: each for itself, or with
 * `--together` with what earlier lines of its outlet taught.
 */
export function pageReader({ config, options }: CommandContext): Reader {
  const composer = openComposer({ threads: config.NORMALISE_THREADS, timeout: config.NORMALISE_TIMEOUT })
  const outlets = new Map<string, Taught>()
  return {
    async read(written, number) {
      const line = readPageLine(written)
      const now = instantOf(line.now)
      const page = await pageOf(line, BigInt(number), now, config)
      if ('refused' in page) return page
      if (!options.together) return shown(await composer.compose(page, { now }))
      const taught = outlets.get(page.outlet.domain) ?? { template: EMPTY_TEMPLATE, pages: 0, served: new Map() }
      outlets.set(page.outlet.domain, taught)
      const template = taught.pages === 0 ? null : taught.template
      const first = await composer.compose(page, { now, template })
      if (first.kind === 'refused' || !isRepeated(first, taught)) return shown(learned(first, taught, page.pageId))
      return shown(await composer.compose(page, { now, template, repeated: true }))
    },
    close: () => composer.close(),
  }
}

/** Whether so many earlier lines had this text that it must be an interstitial. Counts the line. */
function isRepeated({ fingerprint, titled }: Extract<Composition, { kind: 'article' }>, { served }: Taught): boolean {
  if (fingerprint === null) return false
  const key = Buffer.from(fingerprint).toString('base64')
  const others = served.get(key) ?? 0
  served.set(key, others + 1)
  return isOften(others, titled)
}

function learned(composition: Composition, taught: Taught, pageNo: bigint): Composition {
  if (composition.kind === 'article' && composition.lesson !== null && teaches(pageNo, taught.pages)) {
    taught.template = learn(taught.template, composition.lesson)
    taught.pages += 1
  }
  return composition
}

function shown(composition: Composition): object {
  if (composition.kind === 'refused') {
    return { refused: composition.reason, detail: composition.detail, interstitial: composition.interstitial }
  }
  const { article, origins, interstitial } = composition
  return {
    ...{ title: article.title, url: article.url, body: article.body, snippet: snippetOf(article.body) },
    published_at: article.publishedAt?.toISOString() ?? null,
    ...{ authors: article.authors, language: article.language, country: article.country },
    ...{ origins, interstitial },
  }
}

/** The page as the crawler would store it, or the reason for which it would not. */
async function pageOf(
  line: PageLine,
  pageId: bigint,
  fetchedAt: Date,
  config: Config,
): Promise<StoredPage | { refused: string; detail: string | null }> {
  const address = readAddress(line.url)
  if (address === null) throw new Error(`url is no http(s) address: ${line.url.slice(0, 200)}`)
  const headers = Object.fromEntries(
    Object.entries(line.headers ?? {}).map(([name, value]) => [name.toLowerCase(), [value].flat().join(', ')]),
  )
  const bytes = await bytesOf(line.html, line.file, config.CRAWL_MAX_BYTES)
  // A text that came as JSON is decoded already, whatever its header says.
  const type = headers['content-type'] ?? 'text/html'
  if (typeof line.html === 'string') headers['content-type'] = `${type.split(';')[0]}; charset=utf-8`
  const page = {
    ...{ pageId, url: address.href, finalUrl: address.href, fetchedAt },
    entry: line.entry ? entryOf(line.entry, address.href) : null,
    outlet: outletOf(line.outlet ?? {}, address),
  }
  const status = line.status ?? (bytes === null ? 403 : 200)
  const answer = { status, headers, body: bytes ?? Buffer.alloc(0), framed: true, cookies: [] }
  const verdict = judge({ kind: 'answer', answer, url: address }, 0)
  const own = isOwnHost(address, page.outlet)
  switch (verdict.kind) {
    case 'store': {
      const entry = own || page.entry === null ? page.entry : { ...page.entry, ...NO_WORDS }
      return { ...page, entry, status, contentType: verdict.contentType, body: verdict.body }
    }
    case 'store without body':
      if (!own) return { refused: 'foreign host', detail: `${address.host} is no host of ${page.outlet.domain}` }
      return { ...page, status, contentType: verdict.contentType, body: null }
    case 'put back':
      return { refused: verdict.reason, detail: null }
    case 'refuse':
    case 'retry':
      return { refused: verdict.reason, detail: verdict.detail }
  }
}

/**
 * Whether a host is of the outlet's domain or one of its other hosts: elsewhere its feed's words
 * count nothing.
 */
function isOwnHost({ hostname, host }: URL, { domain, hosts = [] }: StoredPage['outlet']): boolean {
  return [domain, ...hosts].some(name => [hostname, host].some(one => one === name || one.endsWith(`.${name}`)))
}

function entryOf(written: Partial<FeedEntry>, url: string): FeedEntry {
  return {
    ...{ url: written.url ?? url, guid: written.guid ?? null, title: written.title ?? null },
    ...{ summary: written.summary ?? null, content: written.content ?? null, authors: written.authors ?? [] },
    ...{ published: written.published ?? null, language: written.language ?? null },
  }
}

const TIME_ZONES: Record<Country, string> = { NL: 'Europe/Amsterdam', BE: 'Europe/Brussels', LU: 'Europe/Luxembourg' }

/** Fields that the line leaves out follow from the page's host. */
function outletOf(written: Partial<StoredPage['outlet']>, { hostname }: URL): StoredPage['outlet'] {
  const domain = written.domain ?? hostname.replace(/^www\./, '')
  const country = written.country ?? (domain.endsWith('.be') ? 'BE' : domain.endsWith('.lu') ? 'LU' : 'NL')
  const timeZone = written.timeZone ?? TIME_ZONES[country]
  new Intl.DateTimeFormat('en', { timeZone }) // throws on a zone that does not exist
  return {
    name: written.name ?? domain,
    domain,
    country,
    languages: written.languages ?? [],
    timeZone,
    feeds: [],
    sitemaps: [],
    hosts: written.hosts ?? [],
  }
}

function instantOf(written: string | null | undefined): Date {
  const now = written ? new Date(written) : new Date()
  if (Number.isNaN(now.getTime())) throw new Error(`now is no time: ${written}`)
  return now
}
