import { once } from 'node:events'
import type { Request, RequestHandler, Response } from 'express'
import { LRUCache } from 'lru-cache'
import { WORD_RULES } from '../../../search/analysis/index.ts'
import { csvHead, csvLine } from '../../../shared/articles/csv.ts'
import { biasVersion } from '../../../shared/embeddings/bias.ts'
import { counted } from '../../../shared/log/printable.ts'
import {
  type Citation,
  findCitation,
  keepCitation,
  type NewCitation,
  readCited,
  TooManyCitations,
} from '../../../shared/plans/citations.ts'
import type { Plan } from '../../../shared/plans/keys.ts'
import { countOf, type Pool } from '../../../shared/postgres/pool.ts'
import { accessOf, checkQuota, refuseStranger } from '../access/access.ts'
import { lockAddress } from '../access/lock.ts'
import type { Permits } from '../access/permits.ts'
import {
  COVERED,
  countArticles,
  coveredBy,
  findArticles,
  type PlannedRequest,
  plannedOf,
  type Reach,
  type Searches,
} from '../articles/find.ts'
import type { ShownArticle } from '../articles/shown-article.ts'
import type { Cursor } from '../contract/cursor.ts'
import { ApiError, invalid } from '../contract/errors.ts'
import { readSearch } from '../contract/request.ts'
import type { ArticleObject } from '../contract/resources.ts'
import { sendOnce } from '../http/answer.ts'
import { readMembers, refuseParameters } from '../http/body.ts'
import type { History } from '../standbys/history.ts'
import {
  articleHash,
  CITED_PAGE,
  citationDigest,
  citedSearch,
  collectCited,
  headOf,
  MOST_CITED,
  objectOf,
} from './citation.ts'
import { needed, readDescribed } from './feeds.ts'
import { readPlace } from './new.ts'

/*
 * A citation is a search, its watermark and a digest of the articles that it found. The articles
 * are not copied: page and files show them from the index. The digest proves that no article is
 * missing or changed.
 */

/** The page of a citation, and the files of its articles. */
export const CITE_PAGE: RegExp = /^\/cite\/[0-9a-f]{64}$/
export const CITE_FILE: RegExp = /^\/cite\/[0-9a-f]{64}\.(?:json|csv|bib|ris)$/

/** The content of a citation's page, beside the program that shows it. */
export interface Told {
  /** Data by media type. */
  data: Record<string, object>
  /** The same content in lines, for readers without scripts. */
  lines: string[]
}

/** The parts of the API that the handlers need. */
interface CitingParts {
  pool: Pool
  history: History
  /** Permits for pages, which anybody may open. */
  strangers: Permits
  publicUrl: string
  serviceName: string
  model: string
  searchesOf(response: Response): Searches
  /** The explorer's page with the content of a citation; null: without any. */
  page(told: Told | null): Promise<string>
  /** Counts the request in the month of its key. */
  charge(response: Response): Promise<void>
}

/** The most citations that a process keeps in memory. A citation never changes. */
const KEPT = 1_000

/** The handlers that make a citation, show its page, and send its articles. */
export function citing(parts: CitingParts): Record<'make' | 'page' | 'file', RequestHandler> {
  const kept = new LRUCache<string, Citation>({ max: KEPT })
  parts.history.onChange(() => kept.clear())
  const find = async (path: string): Promise<Citation | null> => {
    const digest = path.slice('/cite/'.length).slice(0, 64)
    const citation = kept.get(digest) ?? (await findCitation(parts.pool, digest))
    if (citation !== null) kept.set(digest, citation)
    return citation
  }
  return {
    async make(request, response) {
      response.set('Cache-Control', 'no-store').vary('Authorization')
      refuseParameters(request, NO_PARAMETERS)
      const { search } = readMembers(request, ['search'])
      checkQuota(response)
      const { key } = accessOf(response)
      const { made, articles } = await cite(parts, parts.searchesOf(response), search, key.plan)
      const done = await keepCitation(parts.pool, key.id, made, articles).catch(error => {
        throw error instanceof TooManyCitations
          ? new ApiError('too_many_citations', { message: error.message })
          : error
      })
      // The key was revoked while the request ran.
      if (done === null) throw new ApiError('invalid_token')
      await parts.charge(response)
      response.status(done.isNew ? 201 : 200).location(addressOf(done.citation))
      response.json({ status: 'ok', ...citationObject(done.citation, parts.publicUrl) })
    },
    async page(request, response, next) {
      refuseParameters(request, NO_PARAMETERS)
      const address = lockAddress(request.ip, request.socket.remoteAddress)
      const citation = await parts.strangers
        .take(`cite ${address}`, () => find(request.path))
        .catch(refuseStranger)
      const isForPeople = request.accepts(['application/json', 'text/html']) === 'text/html'
      response.vary('Accept').set('Cache-Control', 'no-cache')
      if (citation === null && !isForPeople) return next(noCitation())
      if (citation === null) response.status(404)
      await sendOnce(
        request,
        response,
        'text/html; charset=utf-8',
        await parts.page(citation === null ? null : toldOf(citation, parts)),
      )
    },
    async file(request, response) {
      refuseParameters(request, NO_PARAMETERS)
      checkQuota(response)
      const citation = await find(request.path)
      if (citation === null) throw noCitation()
      await sendArticles(parts, citation, request, response)
    },
  }
}

const noCitation = () =>
  new ApiError('not_found', { message: 'There is no citation at this address.' })

const NO_PARAMETERS = 'A citation takes no parameters.'

const addressOf = ({ digest }: Pick<Citation, 'digest'>) => `/cite/${digest}`

/** A citation as everybody may see it. */
function citationObject(citation: Citation, publicUrl: string) {
  const address = addressOf(citation)
  const { digest, search, articles: count, countries, model, bias } = citation
  return {
    address,
    url: `${publicUrl}${address}`,
    digest,
    search,
    count,
    cited_at: citation.citedAt.toISOString(),
    as_of: citation.asOf.toISOString(),
    watermark: Number(citation.watermark),
    reach: { countries, since: citation.since.toISOString() },
    rules: citation.rules,
    ids_only: model !== null,
    ...(model === null ? {} : { model, bias }),
  }
}

/**
 * Finds all articles that a search has now, in one snapshot.
 *
 * @throws ApiError
 */
async function cite(
  parts: CitingParts,
  searches: Searches,
  search: string | undefined,
  plan: Plan,
) {
  const { pool, model, serviceName } = parts
  const request = readSearch(readDescribed(needed(search), null, plan, serviceName).search, 'feed')
  const planned = plannedOf({ ...request, perPage: CITED_PAGE }, plan)
  const { at: asOf, state } = await readPlace(pool)
  const frozen = { ...searches, state }
  const byMeaning = request.question.search === 'semantic'
  if (!byMeaning) await refuseMany(frozen, planned)
  const articles = await collectCited((at: Cursor['at'] | null) =>
    findArticles(frozen, planned, at),
  )
  const reach: Reach = { countries: plan.countries, since: planned.historyStart }
  const made: NewCitation = {
    digest: citationDigest(
      headOf(request, reach),
      articles.map(({ line }) => line),
    ),
    search: citedSearch(request),
    ...reach,
    watermark: state.lastSeq,
    asOf,
    rules: WORD_RULES,
    model: byMeaning ? model : null,
    bias: byMeaning ? biasVersion(model) : null,
  }
  return { made, articles }
}

async function refuseMany(searches: Searches, planned: PlannedRequest): Promise<void> {
  const { counts } = await countArticles(searches, planned, { by: 'country' })
  if (counts.total <= MOST_CITED) return
  const sentence = `It finds ${counts.total} articles, and a citation has at most ${MOST_CITED}; narrow the search.`
  throw invalid('search', sentence)
}

const FORMATS = ['json', 'csv', 'bib', 'ris'] as const
type Format = (typeof FORMATS)[number]

const TYPES: Record<Format, string> = {
  json: 'application/json; charset=utf-8',
  csv: 'text/csv; charset=utf-8',
  bib: 'application/x-bibtex; charset=utf-8',
  ris: 'application/x-research-info-systems; charset=utf-8',
}

// $1 digest, $2 countries, $3 history start. Index: the primary keys.
const COUNT_COVERED = `
  select count(*)::int from articles a
   where a.seq in (select unnest(seqs) from citations where digest = decode($1, 'hex')) and ${COVERED}`

/** Writes the articles that the reader's plan covers, in small groups. */
async function sendArticles(
  parts: CitingParts,
  citation: Citation,
  request: Request,
  response: Response,
) {
  const format = FORMATS.find(one => request.path.endsWith(`.${one}`)) ?? 'json'
  const { index, withPermit } = parts.searchesOf(response)
  const { countries, since } = coveredBy(accessOf(response).key.plan)
  const values = [citation.digest, countries, since]
  const covered = await withPermit(() => countOf(parts.pool, COUNT_COVERED, values))
  const { head, of, between, end } = writerOf(
    format,
    citation,
    citation.articles - covered,
    parts.publicUrl,
  )
  await parts.charge(response)
  response
    .vary('Authorization')
    .set({ 'Content-Type': TYPES[format], 'Cache-Control': 'private, no-cache' })
  if (format !== 'json') response.attachment(`perscope-${citation.digest.slice(0, 12)}.${format}`)
  if (request.method === 'HEAD') return void response.end()
  response.write(head)
  // One listener for the whole answer. A listener for each wait would stay until the answer ends.
  const closed = new Promise(resolve => response.once('close', resolve))
  let isFirst = true
  for await (const numbers of readCited(parts.pool, citation)) {
    const all = await withPermit(() => index.articles(numbers.map(({ seq }) => seq)))
    const shown = all
      .filter(({ time }) => time !== null && time >= since.getTime())
      .map(one => ({ one, object: objectOf(one) }))
      .filter(({ object }) => countries.includes(object.country))
    if (shown.length === 0) continue
    const part = shown.map(({ one, object }) => of(object, one)).join(between)
    if (!response.write(isFirst ? part : between + part))
      await Promise.race([once(response, 'drain'), closed])
    isFirst = false
    if (response.destroyed) return
  }
  response.end(end)
}

interface Writer {
  head: string
  of(article: ArticleObject, kept: ShownArticle): string
  between: string
  end: string
}

function writerOf(format: Format, citation: Citation, outside: number, publicUrl: string): Writer {
  const object = { status: 'ok', ...citationObject(citation, publicUrl), outside }
  switch (format) {
    case 'json': {
      const head = `${JSON.stringify(object).slice(0, -1)},"articles":[`
      return {
        head,
        of: (_article, { pieces }) => pieces.json.bytes.toString(),
        between: ',',
        end: ']}',
      }
    }
    case 'csv':
      return { head: csvHeadOf(citation, outside), of: csvRecord, between: '', end: '' }
    case 'bib':
      return { head: '', of: article => bibtexOf(workOf(article)), between: '\n', end: '' }
    case 'ris':
      return { head: '', of: article => risOf('NEWS', workOf(article)), between: '', end: '' }
  }
}

const HASHED = ['id', 'ingested_at', 'published_at'] as const
const SHOWN = [
  'title',
  'url',
  'snippet',
  'authors',
  'language',
  'country',
  'outlet_name',
  'outlet_domain',
] as const

/**
 * The digest covers more than the articles. The name of the last column holds these other values,
 * separated by spaces. None of them contains a space.
 */
function csvHeadOf(citation: Citation, outside: number): string {
  const request = readSearch(citation.search, 'feed')
  const beside = [addressOf(citation), citation.asOf.toISOString(), outside, citation.rules]
  const last = [...beside, ...headOf(request, citation)].join(' ')
  return `${csvHead(HASHED).trimEnd()},h,${csvHead(SHOWN).trimEnd()},"${last}"\r\n`
}

/**
 * The CSV writer adds an apostrophe before some signs. Here an id gets one at its beginning and
 * after each `;`, where the writer would add one or the id already has one. A reader who removes
 * one apostrophe at each of these places gets the id back.
 */
function csvRecord(article: ArticleObject): string {
  const id = article.id.replace(/(^|;)(?=['=+\-@])/g, "$1'")
  const cells = (columns: typeof HASHED | typeof SHOWN) =>
    csvLine({ ...article, id }, columns).trimEnd()
  return `${cells(HASHED)},${articleHash(article)},${cells(SHOWN)},\r\n`
}

/** A text on one line. */
const inLine = (text: string) => text.replace(/[\s\p{Cc}]+/gu, ' ').trim()

const TEX: Record<string, string> = {
  '\\': '\\textbackslash{}',
  '~': '\\textasciitilde{}',
  '^': '\\textasciicircum{}',
}
const tex = (text: string) =>
  inLine(text).replace(/[\\{}$&#%_~^]/g, sign => TEX[sign] ?? `\\${sign}`)

/** A cited article or search. Empty fields are left out of the formats. */
interface Work {
  id: string
  title: string
  authors: string[]
  outlet?: string
  /** As `2026-11-20`. */
  day: string
  language?: string
  note?: string
  url: string
}

/** An entry of BibTeX. */
function bibtexOf({
  id,
  title,
  authors,
  outlet = '',
  day,
  language = '',
  note = '',
  url,
}: Work): string {
  const fields = {
    title: `{${tex(title)}}`,
    author: authors.map(name => `{${tex(name)}}`).join(' and '),
    howpublished: tex(outlet),
    year: day.slice(0, 4),
    date: day,
    url: tex(url),
    language,
    note,
  }
  const written = Object.entries(fields).flatMap(([name, value]) =>
    value === '' ? [] : `  ${name} = {${value}},\n`,
  )
  return `@misc{${id.replace(/[^\w.:-]/g, '-')},\n${written.join('')}}\n`
}

/** A record of RIS. */
function risOf(
  type: 'NEWS' | 'DATA',
  { id, title, authors, outlet = '', day, language = '', note = '', url }: Work,
) {
  const tags: [tag: string, value: string][] = [
    ['ID', type === 'NEWS' ? id : ''],
    ['TI', title],
    ...authors.map((name): [string, string] => ['AU', name]),
    ['JO', outlet],
    ['PY', day.slice(0, 4)],
    ['DA', day.replaceAll('-', '/')],
    ['LA', language],
    ['N1', note],
    ['UR', url],
  ]
  const written = tags
    .filter(([, value]) => value !== '')
    .map(([tag, value]) => `${tag}  - ${inLine(value)}\r\n`)
  return [`TY  - ${type}\r\n`, ...written, 'ER  - \r\n'].join('')
}

const workOf = ({
  id,
  title,
  authors,
  outlet,
  published_at,
  language,
  url,
}: ArticleObject): Work => ({
  id,
  title,
  language,
  url,
  authors: authors.map(({ name }) => name),
  outlet: outlet.name ?? outlet.domain ?? '',
  day: published_at?.slice(0, 10) ?? '',
})

/** Texts that show how to cite the citation, for people and for their programs. */
function textsOf(citation: Citation, { publicUrl, serviceName }: CitingParts) {
  const object = citationObject(citation, publicUrl)
  const { url, digest, search, count, cited_at } = object
  const name = `${counted(count, 'article')} of the search "${search}"`
  const day = cited_at.slice(0, 10)
  const note = `Cited ${cited_at}. SHA-256 ${digest}`
  const work = {
    id: `perscope-${digest.slice(0, 12)}`,
    title: name,
    authors: [serviceName],
    day,
    note,
    url,
  }
  return {
    ...object,
    name,
    line: `${serviceName} (${day.slice(0, 4)}): ${name}. ${note}. ${url}`,
    bibtex: bibtexOf(work),
    ris: risOf('DATA', work),
  }
}

/** The content of a citation's page: data for programs and for the page, and lines of text. */
function toldOf(citation: Citation, parts: CitingParts): Told {
  const texts = textsOf(citation, parts)
  const { url, name, line, digest, cited_at } = texts
  const dataset = {
    '@context': 'https://schema.org',
    '@type': 'Dataset',
    '@id': url,
    url,
    name,
    identifier: [url, `sha256:${digest}`],
    description: line,
    citation: line,
    dateCreated: cited_at,
    version: digest,
    isAccessibleForFree: false,
    publisher: { '@type': 'Organization', name: parts.serviceName },
    distribution: (['json', 'csv'] as const).map(format => ({
      '@type': 'DataDownload',
      contentUrl: `${url}.${format}`,
      encodingFormat: TYPES[format].split(';')[0],
    })),
  }
  return {
    data: { 'application/ld+json': dataset, 'application/json': texts },
    lines: [name, line, texts.bibtex, texts.ris],
  }
}
