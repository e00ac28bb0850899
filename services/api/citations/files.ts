import { once } from 'node:events'
import type { Request, Response } from 'express'
import { eachIn } from '#search/index'
import { accessOf } from '#services/api/access/access'
import { COSTS } from '#services/api/access/costs'
import type { Searches } from '#services/api/articles/find'
import { articleIn, type ShownArticle } from '#services/api/articles/shown-article'
import type { ArticleObject } from '#services/api/contract/resources'
import { csvHead, csvLine, csvRecord } from '#shared/articles/csv'
import { type Citation, readCited } from '#shared/desk/citations'
import { type BareLine, readBareLines, saidHash, saidText } from '#shared/desk/cited-removals'
import { COVERED, coveredBy, covers, type Reach } from '#shared/plans/reach'
import { countOf, type Queryable } from '#shared/postgres/pool'
import { headOf } from './citation.ts'
import { bibtexOf, FORMATS, type Format, risOf, TYPES, workOf } from './formats.ts'
import { addressOf, citationObject } from './page.ts'

/** The parts of the API that send the articles of a citation. */
export interface FileParts {
  publicUrl: string
  searchesOf(response: Response): Searches
  /** Counts the request in the month of its key. */
  charge(response: Response): Promise<void>
}

// $1 digest, $2 countries, $3 history start. Index: the primary keys.
const COUNT_COVERED = `
  select count(*)::int from articles a
   where a.seq in (select unnest(seqs) from citations where digest = decode($1, 'hex')) and ${COVERED}`

/** Writes the articles that the reader's plan covers, in small groups. */
export async function sendArticles(
  parts: FileParts,
  { db, index, withPermit, pay }: Searches,
  citation: Citation,
  request: Request,
  response: Response,
): Promise<void> {
  const format = FORMATS.find(one => request.path.endsWith(`.${one}`)) ?? 'json'
  const reach = coveredBy(accessOf(response).key.plan)
  const values = [citation.digest, reach.countries, reach.since]
  const covered = await withPermit(() => countOf(db, COUNT_COVERED, values))
  const { head, of, between, end } = writerOf(
    format,
    citation,
    citation.articles - covered,
    parts.publicUrl,
  )
  await pay(covered / COSTS.cited)
  await parts.charge(response)
  // This sets a type by the ending, and knows none for `.bib`. So it comes before ours.
  if (format !== 'json') response.attachment(`perscope-${citation.digest.slice(0, 12)}.${format}`)
  response
    .vary('Authorization')
    .set({ 'Content-Type': TYPES[format], 'Cache-Control': 'private, no-cache' })
  if (request.method === 'HEAD') return void response.end()
  response.write(head)
  // One listener for the whole answer. A listener for each wait would stay until the answer ends.
  const closed = new Promise(resolve => response.once('close', resolve))
  let isFirst = true
  const removed: BareLine[] = []
  for await (const numbers of readCited(db, citation)) {
    const seqs = numbers.map(({ seq }) => seq)
    const written = await withPermit(async pace => {
      const all = await index.articles(seqs)
      if (all.length < seqs.length) removed.push(...(await bareWithin(db, seqs, reach)))
      return eachIn(pace, all, one => {
        const article = articleIn(one.pieces.json)
        return covers(reach, article) ? of(article, one) : ''
      })
    })
    const part = written.filter(one => one !== '').join(between)
    if (part === '') continue
    if (!response.write(isFirst ? part : between + part))
      await Promise.race([once(response, 'drain'), closed])
    isFirst = false
    if (response.destroyed) return
  }
  response.end(end(removed))
}

/** What stays of articles that were taken out, as far as a plan covers them. */
async function bareWithin(db: Queryable, seqs: bigint[], reach: Reach): Promise<BareLine[]> {
  const lines = [...(await readBareLines(db, seqs)).values()]
  return lines.filter(line => covers(reach, line))
}

interface Writer {
  head: string
  of(article: ArticleObject, kept: ShownArticle): string
  between: string
  /** The end of the file, with what stays of articles that were taken out. */
  end(removed: readonly BareLine[]): string
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
        end: removed => `]${removed.length === 0 ? '' : `,"removed":${jsonOf(removed)}`}}`,
      }
    }
    case 'csv':
      return { head: csvHeadOf(citation, outside), of: recordOf, between: '', end: bareRecords }
    case 'bib':
      return { head: '', of: article => bibtexOf(workOf(article)), between: '\n', end: nothing }
    case 'ris':
      return { head: '', of: article => risOf('NEWS', workOf(article)), between: '', end: nothing }
  }
}

const nothing = () => ''

/** The parts of lines that everybody may have whose plan covers them. */
const jsonOf = (removed: readonly BareLine[]) =>
  JSON.stringify(removed.map(({ seq: _seq, country: _country, ...line }) => line))

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
 * separated by spaces. None of them contains a space. Its cells hold the JSON of which `h` is the
 * hash, because the other cells join authors and guard formulas, and so cannot be read back.
 */
function csvHeadOf(citation: Citation, outside: number): string {
  const beside = [addressOf(citation), citation.asOf.toISOString(), outside, citation.rules]
  const last = [...beside, ...headOf(citation.search, citation)].join(' ')
  return `${csvHead(HASHED).trimEnd()},h,${csvHead(SHOWN).trimEnd()},"${last}"\r\n`
}

/**
 * The CSV writer adds an apostrophe before some signs. Here an id gets one at its beginning and
 * after each `;`, where the writer would add one or the id already has one. A reader who removes
 * one apostrophe at each of these places gets the id back.
 */
function recordOf(article: ArticleObject): string {
  const id = guarded(article.id)
  const cells = (columns: typeof HASHED | typeof SHOWN) =>
    csvLine({ ...article, id }, columns).trimEnd()
  // In JSON, a semicolon may be written as an escape. No spreadsheet then begins a cell in it.
  const said = csvRecord([saidText(article).replaceAll(';', '\\u003b')])
  return `${cells(HASHED)},${saidHash(article)},${cells(SHOWN)},${said}`
}

const guarded = (id: string) => id.replace(/(^|;)(?=['=+\-@])/g, "$1'")

/** Of an article that was taken out, its record has the columns that are hashed, and `h`. */
const bareRecords = (removed: readonly BareLine[]): string =>
  removed
    .map(line => {
      const hashed = csvLine({ ...line, id: guarded(line.id) }, HASHED).trimEnd()
      return `${hashed},${line.h},${SHOWN.map(() => '').join(',')},\r\n`
    })
    .join('')
