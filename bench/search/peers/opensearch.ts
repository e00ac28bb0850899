import { setTimeout as pause } from 'node:timers/promises'
import { Pool } from 'undici'
import { say } from '#bench/figures'
import type { Asking } from '#bench/load'
import type { Bench } from '#bench/servers'
import { COUNTRIES } from '#shared/articles/article'
import { openBox } from '#test/fleet/hosts/box'
import { startOpensearch } from '#test/fleet/parts/opensearch'
import { MissingProgram } from '#test/fleet/programs/debian'
import type { PeerDocument, PeerQuestion } from './documents.ts'
import { LIMIT_MS, type Peer, type PeerAnswer, type ShownArticle } from './peer.ts'

/** MB. Lucene's own JVM has as much. */
const HEAP = 1_024
/** ms for building, where each request of the bench otherwise ends at `LIMIT_MS`. */
const BUILDING_MS = 1_800_000
/** ms between two looks whether all is merged. */
const LOOK_MS = 1_000

/**
 * One node of OpenSearch, asked over HTTP. Its index has one shard, is sorted by time of
 * publication, and is merged to one segment. Filters are filters, so it computes no scores.
 */
export async function withOpensearch(
  bench: Bench,
  measure: (peer: Peer) => Promise<void>,
): Promise<void> {
  const box = await openBox(() => {}, 'loopback')
  try {
    const host = await box.addHost('peer')
    const { nodes } = await startOpensearch(box, [host], bench.signal, HEAP)
    const base = nodes[0]!.url
    const client = new Pool(base, { headersTimeout: BUILDING_MS, bodyTimeout: BUILDING_MS })
    try {
      await send(client, { path: '/articles', body: JSON.stringify(INDEX) }, 'PUT')
      await measure({
        key: 'opensearch',
        title: `OpenSearch: one node over HTTP, heap of ${HEAP} MB; one shard, sorted, one segment; filters without scores`,
        http: { base, request: requestOf },
        add: documents => insert(client, documents),
        async finish() {
          await send(client, { path: '/articles/_refresh' }, 'POST')
          await send(client, { path: '/articles/_forcemerge?max_num_segments=1' }, 'POST')
          while ((await statsOf(client)).merges.current > 0) await pause(LOOK_MS)
        },
        ask: question => ask(client, question),
        pids: async () => host.members().flatMap(member => member.pid() ?? []),
        disk: async () => (await statsOf(client)).store.size_in_bytes / 1e6,
      })
    } finally {
      await client.close()
    }
  } catch (error) {
    if (!(error instanceof MissingProgram)) throw error
    say(error.message)
  } finally {
    await box.close(false)
  }
}

/** Words come with blanks between them, as Perscope's own analysis has made them. */
const words = (positions: boolean) => ({
  type: 'text',
  analyzer: 'whitespace',
  norms: false,
  index_options: positions ? 'positions' : 'docs',
})

const INDEX = {
  settings: {
    number_of_shards: 1,
    number_of_replicas: 0,
    refresh_interval: -1,
    'sort.field': ['published_at', 'id'],
    'sort.order': ['desc', 'desc'],
    'sort.missing': ['_last', '_last'],
  },
  mappings: {
    dynamic: false,
    // A hit brings the article as the contract shows it, and nothing else.
    _source: { includes: ['row'] },
    properties: {
      id: { type: 'keyword' },
      published_at: { type: 'long' },
      ingested_at: { type: 'long' },
      title: words(true),
      body: words(true),
      title_keys: words(false),
      keys: words(false),
      country: { type: 'keyword' },
      language: { type: 'keyword' },
      publisher_no: { type: 'keyword' },
      author_nos: { type: 'keyword' },
    },
  },
}

async function insert(client: Pool, documents: PeerDocument[]): Promise<void> {
  const lines = documents.flatMap(document => {
    const { id, published_at, ingested_at, titleKeys, keys, title, body, row } = document
    const { country, language, publisher_no, author_nos } = document
    const indexed = {
      id,
      published_at: published_at?.getTime(),
      ingested_at: ingested_at.getTime(),
      title: title.join(' '),
      body: body.join(' '),
      title_keys: titleKeys.join(' '),
      keys: keys.join(' '),
      country,
      language,
      publisher_no,
      author_nos,
      row,
    }
    return [JSON.stringify({ index: { _id: id } }), JSON.stringify(indexed)]
  })
  const path = '/articles/_bulk?filter_path=errors'
  const { errors } = await send<{ errors: boolean }>(
    client,
    { path, body: `${lines.join('\n')}\n` },
    'POST',
  )
  if (errors) throw new Error('OpenSearch has not taken all articles.')
}

interface Statistics {
  merges: { current: number }
  store: { size_in_bytes: number }
}

const statsOf = async (client: Pool): Promise<Statistics> =>
  (
    await send<{ _all: { primaries: Statistics } }>(
      client,
      { path: '/articles/_stats/merge,store' },
      'GET',
    )
  )._all.primaries

/** @throws Error when OpenSearch answers with a status other than 200 */
async function send<Answer>(
  client: Pool,
  { path, body }: Asking,
  method: 'GET' | 'PUT' | 'POST',
): Promise<Answer> {
  const headers = { 'content-type': 'application/json' }
  const answer = await client.request({ method, path, body: body ?? null, headers })
  const text = await answer.body.text()
  if (answer.statusCode !== 200) throw new Error(`OpenSearch: ${text.slice(0, 500)}`)
  return JSON.parse(text)
}

interface Found {
  timed_out: boolean
  hits: { total?: { value: number }; hits?: { _source: { row: string } }[] }
}

async function ask(client: Pool, question: PeerQuestion): Promise<PeerAnswer | null> {
  const start = performance.now()
  const { timed_out, hits } = await send<Found>(client, requestOf(question), 'POST')
  const ms = performance.now() - start
  if (timed_out) return null
  const rows = (hits.hits ?? []).map(({ _source }): ShownArticle => JSON.parse(_source.row))
  const { cap } = question
  return { rows, total: cap === null ? null : Math.min(hits.total?.value ?? 0, cap), ms }
}

/** One request for a page of articles, and for the total up to the cap. */
function requestOf(question: PeerQuestion): Asking {
  const { perPage, cap, sort, order, after } = question
  const filter = filtersOf(question)
  const isAfterDates = after !== null && after.value === null
  // Those without a date come last. Among them a page begins after an id.
  if (isAfterDates) filter.push({ bool: { must_not: { exists: { field: sort } } } })
  const search = {
    size: perPage,
    timeout: `${LIMIT_MS}ms`,
    track_total_hits: cap ?? false,
    query: { bool: { filter, must_not: excluded(question) } },
    sort: isAfterDates ? [{ id: order }] : [{ [sort]: { order, missing: '_last' } }, { id: order }],
    search_after: after === null ? undefined : isAfterDates ? [after.id] : [after.value, after.id],
  }
  return { path: SEARCH, body: JSON.stringify(search) }
}

const SEARCH = '/articles/_search?filter_path=timed_out,hits.total.value,hits.hits._source.row'

type Condition = Record<string, unknown>

function filtersOf(question: PeerQuestion): Condition[] {
  const { match, searchIn, countries, languages, hasAuthor, publisherNos, authorNos } = question
  const { reach, ingestedAfter } = question
  const filters: Condition[] = []
  const terms = (field: string, values: readonly unknown[] | null) => {
    if (values) filters.push({ terms: { [field]: values } })
  }
  const range = (field: string, from: Date | null, to?: Date | null) => {
    if (from) filters.push({ range: { [field]: { gte: from.getTime(), lte: to?.getTime() } } })
  }
  if (match.kind === 'keys') terms(searchIn === 'title' ? 'title_keys' : 'keys', match.keys)
  if (match.kind === 'words')
    for (const phrase of match.required) filters.push(phraseIn(question, phrase))
  terms('country', countries.length < COUNTRIES.length ? countries : null)
  terms('language', languages)
  terms('publisher_no', publisherNos)
  terms('author_nos', authorNos)
  if (hasAuthor !== null) {
    const signed = { exists: { field: 'author_nos' } }
    filters.push(hasAuthor ? signed : { bool: { must_not: signed } })
  }
  range('published_at', reach.publishedAfter, reach.publishedBefore)
  range('ingested_at', ingestedAfter)
  return filters
}

const excluded = (question: PeerQuestion): Condition[] =>
  question.match.kind === 'words'
    ? question.match.excluded.map(phrase => phraseIn(question, phrase))
    : []

/** The words, one after the other, in the title, or in the title or the body. */
function phraseIn({ searchIn }: PeerQuestion, phrase: string[]): Condition {
  const inField = (field: string) => ({ match_phrase: { [field]: phrase.join(' ') } })
  if (searchIn === 'title') return inField('title')
  return { bool: { should: [inField('title'), inField('body')] } }
}
