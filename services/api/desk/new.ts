import { hash } from 'node:crypto'
import { createNumberCollector, type Matched, TooFrequent } from '#search/index'
import { checkQuota } from '#services/api/access/access'
import { COSTS } from '#services/api/access/costs'
import { type CursorSecret, opened, signed } from '#services/api/contract/cursor'
import { ApiError, invalid } from '#services/api/contract/errors'
import type { Json } from '#services/api/contract/openapi'
import {
  COUNT,
  count,
  dataOf,
  objectOf,
  TEXT,
  text,
  timeOrNull,
} from '#services/api/contract/resources'
import { type OtherMember, readMembers } from '#services/api/http/body'
import { MAX_SEARCHES } from '#shared/desk/feeds'
import { allWithSets } from '#shared/desk/outlet-sets'
import { listSearches } from '#shared/desk/searches'
import { isRecord } from '#shared/encoding/is-record'
import type { Plan } from '#shared/plans/keys'
import { columnsOf, type Queryable } from '#shared/postgres/pool'
import type { Handler } from './handler.ts'
import { type CurrentPlace, type IngestionPlace, newOf, readPlace } from './place.ts'

/** The answer, as JSON Schema (2020-12). */
export const NEW_SCHEMA: Json = dataOf({
  type: 'array',
  maxItems: MAX_SEARCHES,
  description: 'The searches asked about, in their order.',
  items: objectOf({
    id: TEXT,
    new: { ...COUNT, maximum: 999 },
    more: { type: 'boolean', description: 'There are more than 999.' },
    texts: count('How many texts these articles are, as far as copies are known.'),
    since: timeOrNull('The time of the mark that was sent; null: none was.'),
    mark: text('Of this moment: keep it once the articles have been seen. Opaque.'),
  }),
})

/** How many new articles are counted at most. */
const MOST = 999
/**
 * How many searches of a request are counted at a time. Most counts do not wait, because the first
 * one has read what they need.
 */
const AT_ONCE = 8

const MARKS: OtherMember<Record<string, unknown>> = {
  name: 'marks',
  read: value => (isRecord(value) ? value : null),
  sentence: 'Write an object with a mark, or null, for the id of each search.',
}

/**
 * `POST /explore/searches/new`: the number of new articles of each search since its mark. The
 * server stores no marks, because each client keeps its own. So colleagues with the same key all
 * learn of each new article.
 */
export const answerWhatIsNew: Handler = async (
  { pool, cursorSecret, searches: { index, withPermit, pay }, key },
  request,
  response,
) => {
  checkQuota(response)
  const { other: marks } = readMembers(request, [], MARKS)
  if (marks === undefined) throw invalid('marks', MARKS.sentence)
  const all = await listSearches(pool, key.id)
  const searches = await allWithSets(
    pool,
    key.id,
    all.map(({ search }) => search),
  )
  const kept = new Map(all.map(({ id }, at) => [id, searches[at]!]))
  // Most searches have the same mark, from one visit. Each different mark is read once, because
  // checking its signature takes time.
  const given = [...new Set(Object.values(marks))].filter(mark => typeof mark === 'string')
  const read = new Map(given.map(mark => [mark, readMark(cursorSecret, key.id, mark)]))
  const now = await readPlace(
    pool,
    [...read.values()].flatMap(mark => (mark ? [mark.seq] : [])),
  )
  const places = new Map(
    [...read].map(([text, mark]) => [text, mark && isOfHistory(mark, now) ? mark : null]),
  )
  const asked = readAsked(marks, kept, places, key.plan)
  const mark = signed(cursorSecret, bindingOf(key.id), contentOf(now))
  const found = new Map<number, bigint[]>()
  const left = asked.entries().filter(([, { query, above }]) => query !== null && above < now.seq)
  await pay(asked.length / COSTS.searches)
  // All is paid before the first search runs.
  const price = await withPermit(async pace => {
    let sum = 0
    for (const { id, query, above } of asked) {
      if (query === null || above >= now.seq) continue
      if (pace.isDue()) await pace.rest()
      sum += await index.price(query, { above, state: now.state, pace }).catch((error: unknown) => {
        if (!(error instanceof TooFrequent)) throw error
        throw invalid('marks', `${id}: ${error.message}`)
      })
    }
    return sum
  })
  await pay(price / COSTS.near)
  await withPermit(async ({ isDue, rest }) => {
    const pace = { isDue, rest }
    const countOne = async ([at, { query, above }]: [number, Asked]) => {
      if (pace.isDue()) await pace.rest()
      const range = { above, state: now.state, pace }
      const collector = await index.collect(query!, () => createNumberCollector(MOST + 1), range)
      found.set(at, collector.seqs())
    }
    // A loop that fails closes the iterator, so the other loops begin no further search.
    const countOn = async () => {
      for (const next of left) await countOne(next)
    }
    // The first search reads the days and the new articles, which all searches need.
    const first = left.next()
    if (first.done) return
    await countOne(first.value)
    // The permit is held until all searches have ended.
    const ends = await Promise.allSettled(Array.from({ length: AT_ONCE }, countOn))
    const failed = ends.find(end => end.status === 'rejected')
    if (failed !== undefined) throw failed.reason
  })
  const texts = await withPermit(() => countTexts(pool, found))
  const data = asked.map(({ id, since }, at) => {
    const n = found.get(at)?.length ?? 0
    const said = { new: Math.min(n, MOST), more: n > MOST, texts: texts.get(at) ?? 0 }
    return { id, ...said, since: since?.toISOString() ?? null, mark }
  })
  response.json({ status: 'ok', data })
}

/** A search of the request, with its query and its place. */
interface Asked {
  id: string
  /** null: the client sent no mark. The mark of this answer is its first, so nothing is new. */
  query: Matched | null
  above: bigint
  /** The time of its place; null: it has none. */
  since: Date | null
}

// $1 searches, $2 the numbers of their articles. Index: the primary key.
const TEXTS = `
  select n.at, count(distinct coalesce(c.first_seq, n.seq))::int as texts
    from unnest($1::int[], $2::bigint[]) n (at, seq) left join copy_sketches c using (seq) group by n.at`

/** How many texts the first `MOST` articles of each search are, as far as copies are known. */
async function countTexts(
  db: Queryable,
  found: ReadonlyMap<number, bigint[]>,
): Promise<ReadonlyMap<number, number>> {
  const shown = [...found].flatMap(([at, seqs]) => seqs.slice(0, MOST).map(seq => ({ at, seq })))
  if (shown.length === 0) return new Map()
  const { rows } = await db.query<{ at: number; texts: number }>(
    TEXTS,
    columnsOf(shown, 'at', 'seq'),
  )
  return new Map(rows.map(({ at, texts }) => [at, texts]))
}

/** @throws ApiError `invalid_request`; `country_not_included`, `history_not_included` */
function readAsked(
  marks: Record<string, unknown>,
  kept: ReadonlyMap<string, string>,
  places: ReadonlyMap<unknown, IngestionPlace | null>,
  plan: Plan,
): Asked[] {
  const problems: string[] = []
  const asked = Object.entries(marks).flatMap(([id, mark]): Asked[] => {
    const one = readOne(id, mark, kept.get(id), places, plan)
    if (typeof one !== 'string') return [one]
    problems.push(one)
    return []
  })
  if (asked.length > MAX_SEARCHES) problems.push(`Ask about at most ${MAX_SEARCHES} searches.`)
  if (problems.length === 0) return asked
  throw invalid('marks', ...problems.slice(0, MOST_PROBLEMS))
}

/** @returns a sentence when the search cannot be counted */
function readOne(
  id: string,
  mark: unknown,
  search: string | undefined,
  places: ReadonlyMap<unknown, IngestionPlace | null>,
  plan: Plan,
): Asked | string {
  if (search === undefined) return `This key keeps no search "${id.slice(0, 40)}".`
  const place = places.get(mark) ?? null
  if (mark !== null && place === null)
    return `The mark of ${id} is none of this key, or has ended; send null.`
  try {
    const query = newOf(search, place ?? LONG_AGO, plan)
    return { id, query: place && query, above: place?.seq ?? 0n, since: place?.at ?? null }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    if (error.code === 'invalid_request') return `${id}: ${error.sentence}`
    throw new ApiError(error.code, { message: `${id}: ${error.message}` })
  }
}

const LONG_AGO: IngestionPlace = { seq: 0n, at: new Date(0) }
const MOST_PROBLEMS = 50

/*
 * A mark is the text that `signed` makes of a place: its `seq` (8 bytes), its time (6 bytes, ms
 * since 1970) and the digest of the id of that article (8 bytes; marks of older versions end before
 * it). It uses the secret of cursors. So marks and cursors both become invalid when the database
 * goes back to an earlier moment.
 */
const bindingOf = (keyId: string) => `mark ${keyId}`

interface Mark extends IngestionPlace {
  /** The digest of the id of the article at the place; null: the mark has none. */
  digest: Buffer | null
}

const ID_AT = 14
const digestOf = (id: string): Buffer => hash('sha256', id, 'buffer').subarray(0, 8)

function contentOf({ seq, at, ids }: CurrentPlace): Buffer {
  const content = Buffer.alloc(ID_AT)
  content.writeBigUInt64BE(seq)
  content.writeIntBE(at.getTime(), 8, 6)
  const id = ids.get(seq)
  return id === undefined ? content : Buffer.concat([content, digestOf(id)])
}

function readMark(secret: CursorSecret, keyId: string, text: string): Mark | null {
  const content = opened(secret, bindingOf(keyId), text)
  if (content === null) return null
  const digest = content.length > ID_AT ? content.subarray(ID_AT) : null
  return { seq: content.readBigUInt64BE(), at: new Date(content.readIntBE(8, 6)), digest }
}

/**
 * Whether the articles up to a mark are still those that its client saw. After a failover to a
 * standby that lacked some, later articles have their numbers, and would never be new.
 */
function isOfHistory({ seq, digest }: Mark, { seq: newest, ids }: CurrentPlace): boolean {
  if (seq > newest) return false
  const id = ids.get(seq)
  // An article that was taken out says nothing.
  return id === undefined || digest === null || digestOf(id).equals(digest)
}
