import { join } from 'node:path'
import { OPENSEARCH_VERSION } from '../../../../infra/embedded/opensearch.ts'
import type { EmbeddedServers } from '../../../../infra/embedded/servers.ts'
import type { Orders, PeerDocument } from '../documents.ts'
import { type Expression, expressed, riseOf, seqAt } from '../expression.ts'
import { type HttpClient, HttpTimeout, openHttp } from '../http-client.ts'
import type { Running } from '../line-program.ts'
import { LIMIT_MS, OverLimit, type Peer, type PeerAnswer } from '../peer.ts'
import type { PeerQuestion } from '../questions.ts'
import { diskMb, memoryMb, processorMs } from '../usage.ts'
import { INDEX } from './mapping.ts'
import { OPENSEARCH_HEAP, type OpensearchServer, startOpensearch } from './server.ts'

/**
 * OpenSearch, asked over HTTP. Documents are sorted by the order of publication, latest first, so
 * that a search in that order stops early. It looks for parts of names itself.
 *
 * @param folder for its program and its data
 * @param name of its index
 * @returns null, with a sentence to `report`, where it cannot run
 */
export async function openOpensearch(
  folder: string,
  name: string,
  orders: Orders,
  servers: EmbeddedServers,
  running: Running,
): Promise<Peer | null> {
  const started = await startOpensearch(folder, servers, running)
  if (started === null) return null
  const http = openHttp(started.port, { 'content-type': 'application/json' })
  try {
    const state = await openIndex(http, name)
    return peerOf({ folder, name, orders, started, http, ...state })
  } catch (error) {
    http.close()
    await started.server.stop()
    throw error
  }
}

interface OpenIndex {
  folder: string
  name: string
  orders: Orders
  started: OpensearchServer
  http: HttpClient
  built: boolean
  present: number
  segments: number
}

/** An alias of the index stands for its being built. */
const FINISHED = 'finished'

async function openIndex(http: HttpClient, name: string): Promise<Pick<OpenIndex, 'built' | 'present' | 'segments'>> {
  const indices: { index: string }[] = JSON.parse((await http.send('GET', '/_cat/indices?format=json')).text)
  if (!indices.some(({ index }) => index === name)) {
    await http.send('PUT', `/${name}`, JSON.stringify(INDEX))
    return { built: false, present: 0, segments: 0 }
  }
  await http.send('GET', `/_cluster/health/${name}?wait_for_status=green&timeout=60s`)
  const aliases: { alias: string; index: string }[] = JSON.parse(
    (await http.send('GET', '/_cat/aliases?format=json')).text,
  )
  await http.send('POST', `/${name}/_refresh`)
  const { count } = JSON.parse((await http.send('GET', `/${name}/_count`)).text)
  return {
    built: aliases.some(one => one.alias === `${name}_${FINISHED}`),
    // The last of them may be part of a request that was interrupted; they are put in anew.
    present: Math.max(0, count - UNSURE),
    segments: await countSegments(http, name),
  }
}

const UNSURE = 2_000

async function countSegments(http: HttpClient, name: string): Promise<number> {
  return JSON.parse((await http.send('GET', `/_cat/segments/${name}?format=json`)).text).length
}

function peerOf(open: OpenIndex): Peer {
  const { folder, name, orders, started, http } = open
  return {
    key: 'opensearch',
    title: `OpenSearch ${OPENSEARCH_VERSION}`,
    get settings() {
      return `a node of its own, over HTTP, heap of ${OPENSEARCH_HEAP} MB; one shard, ${open.segments} segments, not merged by force, sorted by publication; filters and outlets as keyword fields, authors as a wildcard field; nothing scored; totals tracked to the cap`
    },
    built: open.built,
    present: open.present,
    add: documents => add(http, name, documents, orders),
    async finish() {
      const within = FINISH_MS
      await http.send('PUT', `/${name}/_settings`, JSON.stringify({ 'index.refresh_interval': '1s' }))
      await http.send('POST', `/${name}/_refresh`, null, within)
      await http.send('POST', `/${name}/_flush`, null, within)
      await http.send('PUT', `/${name}/_alias/${name}_${FINISHED}`)
      open.segments = await countSegments(http, name)
    },
    ask: question => ask(open, question),
    async size() {
      return { memory: memoryMb([started.pid]), disk: await diskMb(join(folder, 'data')) }
    },
    async close() {
      http.close()
      await started.server.stop()
    },
  }
}

const FINISH_MS = 600_000
/** Articles in one request. */
const BULK = 500

async function add(http: HttpClient, name: string, documents: PeerDocument[], orders: Orders): Promise<void> {
  for (let from = 0; from < documents.length; from += BULK) {
    const lines = documents.slice(from, from + BULK).flatMap(document => {
      const { id, place, turn, title, body, titleKeys, keys, outletNames, authorNames, authorNos } = document
      return [
        JSON.stringify({ index: { _id: id } }),
        // The row is JSON already.
        `${JSON.stringify({
          ...{ place, rise: riseOf(place, orders), turn },
          ...{ title: title.join(' '), body: body.join(' '), title_keys: titleKeys.join(' '), keys: keys.join(' ') },
          ...{ country: document.country, language: document.language, has_author: authorNos.length > 0 },
          ...{ outlet_names: outletNames, author_names: authorNames },
        }).slice(0, -1)},"article":${document.row}}`,
      ]
    })
    const { text } = await http.send('POST', `/${name}/_bulk?filter_path=errors`, `${lines.join('\n')}\n`)
    if (JSON.parse(text).errors) throw new Error('OpenSearch did not take all articles; see its log.')
  }
}

interface SearchAnswer {
  timed_out: boolean
  hits: { total?: { value: number }; hits: { _source: { article: object }; sort: [number] }[] }
}

async function ask({ http, name, orders, started }: OpenIndex, question: PeerQuestion): Promise<PeerAnswer> {
  const { query, limit, cap, by, ascending, after } = expressed(
    // It looks for the names itself.
    { ...question, ...{ countries: null, languages: null, hasAuthor: null, publisherNos: null, authorNos: null } },
    orders,
  )
  const body = JSON.stringify({
    size: limit,
    track_total_hits: cap ?? false,
    query: { bool: { filter: [clause(query), ...filters(question)] } },
    sort: [{ [by]: ascending ? 'asc' : 'desc' }],
    ...(after === null ? {} : { search_after: [after] }),
  })
  const processor = processorMs([started.pid])
  try {
    const { text, ms } = await http.send('POST', `/${name}/_search`, body, LIMIT_MS)
    const cpuMs = processorMs([started.pid]) - processor
    const { hits }: SearchAnswer = JSON.parse(text)
    return {
      seqs: hits.hits.map(hit => seqAt(by, hit.sort[0], orders)),
      rows: hits.hits.map(hit => JSON.stringify(hit._source.article)),
      total: cap === null ? null : Math.min(hits.total?.value ?? 0, cap),
      ...{ ms, cpuMs },
    }
  } catch (error) {
    if (error instanceof HttpTimeout) throw new OverLimit('took too long')
    throw error
  }
}

function filters({ countries, languages, hasAuthor, outletPart, authorPart }: PeerQuestion): object[] {
  const list: object[] = []
  const part = (field: string, text: string) =>
    list.push({ wildcard: { [field]: { value: `*${text.replace(/[\\*?]/g, '\\$&')}*` } } })
  if (countries !== null) list.push({ terms: { country: countries } })
  if (languages !== null) list.push({ terms: { language: languages } })
  if (hasAuthor !== null) list.push({ term: { has_author: hasAuthor } })
  if (outletPart !== null) part('outlet_names', outletPart)
  if (authorPart !== null) part('author_names', authorPart)
  return list
}

/** An expression as OpenSearch's query. */
function clause(expression: Expression): object {
  const [kind] = expression
  if (kind === 'all') return { match_all: {} }
  if (kind === 'boolean') {
    const of = (wanted: string) => expression[1].filter(([occur]) => occur === wanted).map(([, part]) => clause(part))
    return { bool: { filter: of('and'), should: of('or'), must_not: of('not') } }
  }
  const field = expression[1]
  if (kind === 'term') return { term: { [field]: expression[2] } }
  if (kind === 'terms') return { terms: { [field]: expression[2] } }
  if (kind === 'range') return { range: { [field]: { gte: expression[2], lt: expression[3] } } }
  return { match_phrase: { [field]: expression[2].join(' ') } }
}
