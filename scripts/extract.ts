import { readFile, stat } from 'node:fs/promises'
import { Ajv } from 'ajv'
import type { FromSchema } from 'json-schema-to-ts'
import { prepareText } from '#search/indexing/new-article'
import { openFeedParser } from '#services/crawler/feeds/parsing/parser'
import { gunzipFile } from '#services/crawler/fetch/compression'
import { isAllowed, readRobots, statedOf } from '#services/crawler/fetch/robots'
import { readTdmFile, ruleFor } from '#services/crawler/fetch/tdm'
import { judge } from '#services/crawler/verdict'
import type { Composition } from '#services/normaliser/compose'
import { composerOptions, openComposer } from '#services/normaliser/composer'
import { isOften } from '#services/normaliser/interstitials/served'
import { EMPTY_TEMPLATE, learn, type Template, teaches } from '#services/normaliser/template'
import { readAddress } from '#shared/articles/address'
import { COUNTRIES, LANGUAGES, TIME_ZONES } from '#shared/articles/article'
import type { Config } from '#shared/config/config'
import { NO_WORDS, type StoredPage, wholeEntry } from '#shared/outlets/page'
import { productToken, rightsHeaders, withFiles } from '#shared/outlets/rights'
import { type CommandContext, runCommand, sentenceOf, UsageError } from '#shared/process/command'
import { type Line, readLines } from './articles/groups.ts'

/*
 * Runs the readers of the crawler and the normaliser without a database. For each input line it
 * prints one line, in the same order. So the extraction can be scored against any labelled set of
 * pages.
 */

const ajv = new Ajv({ strict: true })
const text = { type: 'string' } as const
const optional = { type: ['string', 'null'] } as const
const texts = { type: 'array', items: text } as const
const textsOrNull = { ...texts, type: ['array', 'null'] } as const

/** The most bytes of one line: the largest page, with its characters escaped. */
const LONGEST_LINE = 64_000_000

const FEED_LINE = {
  type: 'object',
  required: ['url'],
  properties: { url: text, text: optional, file: optional, contentType: optional },
} as const
const readFeedLine = readerOf<FromSchema<typeof FEED_LINE>>(FEED_LINE)

const ROBOTS_LINE = {
  type: 'object',
  required: ['agent', 'urls'],
  properties: { agent: text, urls: texts, text: optional, file: optional },
} as const
const readRobotsLine = readerOf<FromSchema<typeof ROBOTS_LINE>>(ROBOTS_LINE)

const PAGE_LINE = {
  type: 'object',
  required: ['url'],
  properties: {
    url: text,
    html: optional,
    file: optional,
    robots: optional,
    tdmrep: optional,
    now: optional,
    status: { type: ['integer', 'null'], minimum: 100, maximum: 599 },
    headers: { type: ['object', 'null'], additionalProperties: { anyOf: [text, texts] } },
    entry: {
      type: ['object', 'null'],
      properties: {
        url: optional,
        guid: optional,
        title: optional,
        summary: optional,
        content: optional,
        authors: textsOrNull,
        published: optional,
        language: optional,
      },
    },
    outlet: {
      type: ['object', 'null'],
      properties: {
        name: optional,
        domain: optional,
        timeZone: optional,
        licence: optional,
        country: { enum: [...COUNTRIES, null] },
        languages: { type: ['array', 'null'], items: { enum: LANGUAGES } },
        hosts: textsOrNull,
        feeds: textsOrNull,
        sitemaps: textsOrNull,
      },
    },
  },
} as const
type PageLine = FromSchema<typeof PAGE_LINE>
const readPageLine = readerOf<PageLine>(PAGE_LINE)

await runCommand(
  {
    name: 'extract',
    about: [
      'Makes of pages, feeds or robots.txt what the product makes of them, without a database or a network.',
      'Reads one JSON object a line from standard input and prints one a line, in order:',
      '  {"url", "html"|"file", "status"?, "headers"?, "robots"?, "tdmrep"?, "entry"?, "outlet"?, "now"?}',
      '    the article’s fields and their origins, or {"refused": reason}',
      '  --feeds   {"url", "file"|"text", "contentType"?}   {"entries": [ … ]}, or {"entries": null}',
      '  --robots  {"file"|"text", "agent", "urls"}         {"allowed": [true, … ], "crawlDelay": seconds}',
      '"entry" is the feed’s: {"title", "summary", "content", "authors", "published", "guid", "language"}.',
      '"robots" and "tdmrep" are texts: the robots.txt and the tdmrep.json of the host, for the rights that they state.',
      '"outlet" is the catalogue’s: {"name", "domain", "country", "languages", "timeZone", "hosts"}.',
      'A line that cannot be read gives {"error": sentence}, and the next one goes on.',
    ].join('\n'),
    usage: ['[--together] < pages.ndjson', '--feeds < feeds.ndjson', '--robots < robots.ndjson'],
    options: {
      feeds: { about: 'reads feeds and sitemaps' },
      robots: { about: 'reads robots.txt files' },
      together: { about: 'reads the pages of one outlet in order, with what earlier ones taught' },
    },
  },
  async context => {
    const { config, options } = context
    if ([options.feeds, options.robots, options.together].filter(Boolean).length > 1)
      throw new UsageError('--feeds, --robots and --together do not go together.')
    const reader = options.feeds
      ? feedReader(config)
      : options.robots
        ? robotsReader(config)
        : pageReader(context)
    try {
      const ahead = options.together ? 1 : config.NORMALISE_THREADS * 2
      await inOrder(readLines(process.stdin, LONGEST_LINE), ahead, context, reader)
    } finally {
      await reader.close()
    }
  },
)

/**
 * Prints a result for each line, in the order of the lines. It works on `ahead` lines at a time.
 */
async function inOrder(
  lines: AsyncIterable<Line | null>,
  ahead: number,
  { print, signal }: CommandContext,
  reader: Reader,
) {
  const results: Promise<object>[] = []
  const printFirst = async () => print(JSON.stringify(await results.shift()))
  for await (const line of lines) {
    if (signal.aborted) break
    if (line === null) continue
    const { text, number } = line
    results.push(resultOf(text, number, reader))
    if (results.length >= ahead) await printFirst()
  }
  while (results.length > 0) await printFirst()
}

async function resultOf(text: string | null, number: number, reader: Reader): Promise<object> {
  try {
    if (text === null) throw new Error(`the line is longer than ${LONGEST_LINE} bytes`)
    if (text.trim() === '') throw new Error(`line ${number} is blank`)
    const line: unknown = JSON.parse(text)
    return await reader.read(line, number)
  } catch (error) {
    return { error: sentenceOf(error) }
  }
}

/** Reads feeds and sitemaps as the crawler does. */
function feedReader(config: Config): Reader {
  const parser = openFeedParser()
  return {
    async read(written) {
      const line = readFeedLine(written)
      const bytes = await bytesOf(line.text, line.file, config.CRAWL_MAX_BYTES)
      if (bytes === null) throw new Error('neither text nor file is given')
      const contentType = line.contentType ?? null
      const feed = await parser.parse({ bytes, contentType, url: line.url }, 'extract')
      if (feed === null) return { entries: null }
      const entries = feed.named.map(
        ({ entry: { url, title, summary, content, authors, published } }) => {
          return { url, title, summary, content, authors, published }
        },
      )
      return feed.parts.length === 0
        ? { entries }
        : { entries, parts: feed.parts.map(({ url }) => url) }
    },
    close: () => parser.close(),
  }
}

/** Reads robots.txt files as the crawler does; `crawlDelay` is in seconds, as in the file. */
function robotsReader(config: Config): Reader {
  return {
    async read(written) {
      const line = readRobotsLine(written)
      const bytes = await bytesOf(line.text, line.file, config.CRAWL_MAX_BYTES)
      if (bytes === null) throw new Error('neither text nor file is given')
      const { rules, crawlDelay } = readRobots(bytes.toString('utf8'), productToken(line.agent))
      const allowed = line.urls.map(url => {
        const address = readAddress(url, 'https://host.invalid')
        if (address === null) throw new Error(`no http(s) address: ${url.slice(0, 200)}`)
        return isAllowed(rules, address)
      })
      return { allowed, crawlDelay: crawlDelay === null ? null : crawlDelay / 1_000 }
    },
    async close() {},
  }
}

/** State from the earlier lines of one outlet, with `--together`. */
interface Taught {
  template: Template
  pages: number
  /** How often each text was served, by its fingerprint. */
  served: Map<string, number>
}

/**
 * Reads pages: judges them as the crawler does, and composes them as the normaliser does. With
 * `--together`, it uses the template and the texts of the outlet's earlier lines.
 */
function pageReader({ config, options }: CommandContext): Reader {
  const composer = openComposer(composerOptions(config))
  const outlets = new Map<string, Taught>()
  return {
    async read(written, number) {
      const line = readPageLine(written)
      const now = instantOf(line.now)
      const page = await pageOf(line, now, config)
      if ('refused' in page) return page
      if (!options.together) return shown(await composer.compose(page, { now }))
      const taught = outlets.get(page.outlet.domain) ?? {
        template: EMPTY_TEMPLATE,
        pages: 0,
        served: new Map(),
      }
      outlets.set(page.outlet.domain, taught)
      const template = taught.pages === 0 ? null : taught.template
      const first = await composer.compose(page, { now, template })
      if (first.kind === 'refused' || !isRepeated(first, taught))
        return shown(learned(first, taught, BigInt(number)))
      return shown(await composer.compose(page, { now, template, repeated: true }))
    },
    close: () => composer.close(),
  }
}

/**
 * Whether so many earlier lines had this text that it must be an interstitial. Also counts the
 * present line.
 */
function isRepeated(
  { fingerprint, titled }: Extract<Composition, { kind: 'article' }>,
  { served }: Taught,
): boolean {
  if (fingerprint === null) return false
  const key = Buffer.from(fingerprint).toString('base64')
  const others = served.get(key) ?? 0
  served.set(key, others + 1)
  return isOften(others, titled)
}

function learned(composition: Composition, taught: Taught, pageNo: bigint): Composition {
  if (
    composition.kind === 'article' &&
    composition.lesson !== null &&
    teaches(pageNo, taught.pages)
  ) {
    taught.template = learn(taught.template, composition.lesson)
    taught.pages += 1
  }
  return composition
}

function shown(composition: Composition): object {
  const { rights } = composition
  if (composition.kind === 'refused') {
    const { reason: refused, detail, interstitial } = composition
    return { refused, detail, interstitial, rights: rights.seen }
  }
  const { article, origins, interstitial } = composition
  return {
    title: article.title,
    url: article.url,
    body: article.body,
    snippet: prepareText(article).snippet,
    published_at: article.publishedAt?.toISOString() ?? null,
    authors: article.authors,
    language: article.language,
    country: article.country,
    origins,
    interstitial,
    rights: rights.seen,
  }
}

/** The page as the crawler would store it, or the reason why it would not. */
async function pageOf(line: PageLine, fetchedAt: Date, config: Config) {
  const address = readAddress(line.url)
  if (address === null) throw new Error(`url is no http(s) address: ${line.url.slice(0, 200)}`)
  const headers = Object.fromEntries(
    Object.entries(line.headers ?? {}).map(([name, value]) => [
      name.toLowerCase(),
      [value].flat().join(', '),
    ]),
  )
  const bytes = await bytesOf(line.html, line.file, config.CRAWL_MAX_BYTES)
  // A text in JSON is already decoded, so its header must not say otherwise.
  const type = headers['content-type'] ?? 'text/html'
  if (typeof line.html === 'string')
    headers['content-type'] = `${type.split(';')[0]}; charset=utf-8`
  const page = {
    url: address.href,
    finalUrl: address.href,
    fetchedAt,
    entry: line.entry ? wholeEntry(line.entry, address.href) : null,
    outlet: outletOf(line.outlet ?? {}, address),
  }
  const status = line.status ?? (bytes === null ? 403 : 200)
  const answer = {
    status,
    headers,
    body: bytes ?? Buffer.alloc(0),
    framed: true,
    cookies: [],
    rights: withFiles(
      rightsHeaders(line.headers ?? {}),
      ruleFor(readTdmFile(line.tdmrep ?? '') ?? [], address),
      statedOf(
        readRobots(line.robots ?? '', productToken(config.CRAWL_USER_AGENT)).stated,
        address,
      ),
    ),
  }
  const verdict = judge({ kind: 'answer', answer, url: address, moved: null }, 0)
  const own = isOwnHost(address, page.outlet)
  if ('reason' in verdict) {
    const { reason: refused, detail } = { detail: null, ...verdict }
    return { refused, detail }
  }
  const body = verdict.kind === 'store' ? verdict.body : null
  if (body === null && !own)
    return {
      refused: 'foreign host',
      detail: `${address.host} is no host of ${page.outlet.domain}`,
    }
  const entry = own || page.entry === null ? page.entry : { ...page.entry, ...NO_WORDS }
  const { contentType, rights } = verdict
  return { ...page, entry, status, contentType, rights, body }
}

/**
 * Whether a host belongs to the outlet's domain or is one of its other hosts. For a page on another
 * host, the texts of the outlet's feed are not used.
 */
function isOwnHost({ hostname, host }: URL, { domain, hosts = [] }: StoredPage['outlet']): boolean {
  return [domain, ...hosts].some(name =>
    [hostname, host].some(one => one === name || one.endsWith(`.${name}`)),
  )
}

/** Fields that the line does not give are derived from the page's host. */
function outletOf(
  written: NonNullable<PageLine['outlet']>,
  { hostname }: URL,
): StoredPage['outlet'] {
  const domain = written.domain ?? hostname.replace(/^www\./, '')
  const country =
    written.country ?? (domain.endsWith('.be') ? 'BE' : domain.endsWith('.lu') ? 'LU' : 'NL')
  const timeZone = written.timeZone ?? TIME_ZONES[country]
  new Intl.DateTimeFormat('en', { timeZone }) // throws on a zone that does not exist
  return {
    name: written.name ?? domain,
    domain,
    country,
    languages: written.languages ?? [],
    timeZone,
    hosts: written.hosts ?? [],
    licence: written.licence ?? null,
  }
}

function instantOf(written: string | null | undefined): Date {
  const now = written ? new Date(written) : new Date()
  if (Number.isNaN(now.getTime())) throw new Error(`now is no time: ${written}`)
  return now
}

/** Reads one kind of lines. `read` throws an error whose message says what is wrong with a line. */
interface Reader {
  read(line: unknown, number: number): Promise<object>
  close(): Promise<void>
}

/** @throws Error when a line does not have the form of its kind */
function readerOf<T>(schema: object): (line: unknown) => T {
  const validate = ajv.compile<T>(schema)
  return line => {
    if (validate(line)) return line
    throw new Error(ajv.errorsText(validate.errors, { dataVar: 'line' }).replaceAll('line/', ''))
  }
}

/** The bytes of a text or of a file, which may be compressed with gzip; null for neither. */
async function bytesOf(
  written: string | null | undefined,
  file: string | null | undefined,
  most: number,
) {
  if (typeof written === 'string') return Buffer.from(written)
  if (typeof file !== 'string') return null
  const { size } = await stat(file)
  if (size > most) throw new Error(`the file is larger than ${most} bytes (CRAWL_MAX_BYTES)`)
  return gunzipFile(await readFile(file), most)
}
