import { hash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { type DocumentWords, foldName } from './analysis/index.ts'
import { snippetOf } from './analysis/text.ts'
import { authorId, outletKey } from './indexing/identity.ts'
import { SEGMENT_SIZES } from './indexing/policy.ts'
import { type Client, type Pool, readValue, reasonOf, transaction } from './postgres.ts'
import { type BuiltSegment, createSegmentBuilder } from './segment/builder.ts'
import { type Columns, decodeColumns } from './segment/columns.ts'
import { type DocIdSet, difference, docsOf, emptySet } from './segment/doc-id-set.ts'
import { decodeLexicon, LEXICON_BUCKET } from './segment/lexicon.ts'
import { readBucket } from './segment/postings.ts'
import { postgresArticles } from './store/postgres-articles.ts'
import {
  checkTables,
  countWaiting,
  type Found,
  isUncleared,
  NAMED,
  type NumberedRow,
  readNumbered,
} from './store/postgres-checks.ts'
import { openSegmentStore } from './store/postgres-segments.ts'
import {
  openReads,
  type SegmentMeta,
  type SegmentRange,
  sizeOf,
  type TermDictionary,
} from './store/segment-store.ts'

/*
 * Verifies the index. It builds every stored segment anew from its articles and compares the two
 * part by part. It also compares all rows that belong to an article. It reads slices, each in a
 * snapshot of its own. So it locks nothing, and writers may go on meanwhile. It has one segment
 * twice in memory, as a merge does.
 */

export interface VerifyWork {
  pool: Pool
  /** Cuts texts into words. The caller may do this in threads. */
  tokenise(texts: { title: string; body: string | null }[]): Promise<DocumentWords[]>
  /**
   * Compares all tables as a whole, and `count` segments or ranges, which `seed` draws; null:
   * compares all segments and ranges too.
   */
  sample: { count: number; seed: number } | null
  found: Found
  /**
   * Compares what the caller derives from articles, in the snapshot of the rows. It adds to their
   * faults.
   */
  also?(client: Client, rows: NumberedRow[]): Promise<void>
  /** Called after each slice with the number of articles compared so far. */
  progress(articles: number): void
  signal: AbortSignal
}

/** How many articles and segments were compared. */
export interface Verified {
  /** Without those that were taken out. */
  articles: number
  segments: number
  /** Articles of which nobody knows whether the clock gave their time. */
  unordered: number
  /** Articles that were taken out and wait to be cleared. Their segments are not compared. */
  waiting: number
}

/** Fewer articles than this may wait for a flush. Searches find them in memory. */
const WAITING = SEGMENT_SIZES.merged

/** Checks the clock, the ranges of segments and leftovers. This takes a moment. */
export async function glanceAtIndex(pool: Pool): Promise<string[]> {
  const faults: string[] = []
  await checkTables(pool, 'quick', WAITING, (_, text) => faults.push(text))
  return faults
}

/** Compares the whole index, or a sample. */
export async function verifyIndex(work: VerifyWork): Promise<Verified> {
  const { pool, found, sample, signal } = work
  await checkTables(pool, 'all', WAITING, found)
  const last =
    (await readValue<bigint>(pool, 'select last_seq from ingest_clock, segments_version')) ?? 0n
  const chance = (at: number) => BigInt(`0x${hash('sha256', `${sample?.seed} ${at}`).slice(0, 15)}`)
  const drawn = Array.from(
    { length: sample?.count ?? 0 },
    (_, at) => (chance(at) % (last || 1n)) + 1n,
  )
  const nextOf = (from: bigint) =>
    drawn.filter(seq => seq >= from).reduce((a, b) => (a < b ? a : b), last + 1n)
  const verified = { articles: 0, segments: 0 }
  let passed = 0
  const order: Order = { seq: 0n, latest: null, unknown: 0 }
  for (let next = 1n; next <= last && !signal.aborted; next++) {
    if (sample !== null) next = nextOf(next)
    if (next > last) break
    const slice = await transaction(pool, client =>
      readSlice(client, { first: next, last }, { ...work, order }),
    )
    await slice.compare?.()
    const read = Number(slice.last - slice.first) + 1
    passed += read
    verified.articles += read - slice.removed
    verified.segments += slice.compare === undefined ? 0 : 1
    work.progress(passed)
    next = slice.last
  }
  return { ...verified, unordered: order.unknown, waiting: await countWaiting(pool) }
}

/** The time of the latest article to which the clock gave one, and how many nobody can place. */
interface Order {
  /** The article that was compared last. */
  seq: bigint
  latest: Date | null
  unknown: number
}

type SliceWork = VerifyWork & { order: Order }

/** The most articles of a slice that has no segment. */
const LOOSE = 8_192n

interface Slice extends SegmentRange {
  /** How many of its articles were taken out. */
  removed: number
  /** Compares its segment. This takes seconds of computing, so it runs without a snapshot. */
  compare?: () => Promise<void>
}

/**
 * Reads the segment that has the article `first`. If no segment has it: reads the articles up to
 * the next segment.
 */
async function readSlice(
  client: Client,
  { first, last }: SegmentRange,
  work: SliceWork,
): Promise<Slice> {
  await client.query('set transaction isolation level repeatable read read only')
  // Comparing texts may take long. This limit ends the transaction of a stopped process, which
  // would keep Postgres from vacuuming.
  await client.query("set local idle_in_transaction_session_timeout = '2 min'")
  const reads = openReads(client)
  const store = openSegmentStore(reads)
  const { segments, version } = await store.readMeta(0n)
  const meta = segments.find(segment => segment.last >= first)
  if (meta === undefined || meta.first > first || sizeOf(meta) > WAITING) {
    const ends = [
      first + LOOSE - 1n,
      last,
      ...(meta !== undefined && meta.first > first ? [meta.first - 1n] : []),
    ]
    const range = { first, last: ends.reduce((a, b) => (a < b ? a : b)) }
    let removed = 0
    for await (const rows of readNumbered(client, range)) {
      removed += rows.filter(({ isRemoved }) => isRemoved).length
      await compareRows(client, rows, work)
    }
    return { ...range, removed }
  }
  const sources = await postgresArticles(reads).readSources(meta)
  const columns = await store.readColumns([meta.no], version).catch((error: Error) => {
    if (!(error instanceof RangeError)) throw error
  })
  const builder = createSegmentBuilder(sources, meta.first, { rule: columns?.[0]?.columns.rule })
  const removed = new Set<bigint>()
  for await (const rows of readNumbered(client, meta)) {
    for (const { seq, isRemoved } of rows) if (isRemoved) removed.add(seq)
    await compareRows(client, rows, work, builder.addWords)
  }
  // It is about to be written again.
  const slice = { first: meta.first, last: meta.last, removed: removed.size }
  if (removed.size > 0 && (await isUncleared(client, meta.no))) return slice
  const dictionary = await store.readDictionary(meta, version)
  const lexicon = await store.readLexicon(meta, version).catch(() => null)
  const differ = (text: string, more = 0) =>
    work.found('segments', `segment ${meta.no} (${meta.first} to ${meta.last}): ${text}`, more)
  const compare = () =>
    compareSegment(
      { meta, columns: columns?.[0]?.columns, dictionary, lexicon, removed },
      builder.build,
      differ,
    )
  return { ...slice, compare }
}

/** @param add called with the stored words of each article, while threads tokenise the texts */
async function compareRows(
  client: Client,
  rows: NumberedRow[],
  { found, tokenise, also, order }: SliceWork,
  add: (seq: bigint, title: string, body: string) => void = () => {},
): Promise<void> {
  const isText = (row: NumberedRow): row is NumberedRow & { title: string } => row.title !== null
  const texts = rows.filter(row => row.titleWords !== null).filter(isText)
  const tokenising = tokenise(texts)
  tokenising.catch(() => {}) // `await tokenising` reports the error
  for (const row of rows) {
    if (row.isArticle && row.titleWords !== null && row.bodyWords !== null)
      add(row.seq, row.titleWords, row.bodyWords)
    if (!isNamedRight(row))
      row.faults.push(['names', 'have names that are folded or numbered wrongly'])
    if (row.title !== null && !row.isBounded && row.snippet !== snippetOf(row.body))
      row.faults.push(['snippets', 'have other snippets than their texts'])
    if (row.isArticle) compareTime(row, order)
  }
  await also?.(client, rows)
  for (const [at, { title, body }] of (await tokenising).entries()) {
    const row = texts[at]!
    if (row.titleWords !== title || row.bodyWords !== body)
      row.faults.push(['words', 'have other words than their texts'])
  }
  const faults = rows.flatMap(({ seq, faults }) =>
    faults.map(([kind, text]) => ({ seq, kind, text })),
  )
  for (const [text, of] of Map.groupBy(faults, ({ text }) => text)) {
    found(of[0]!.kind, `${articlesInWords(of.map(({ seq }) => seq))} ${text}`, of.length - 1)
  }
}

/**
 * Compares the time of an article with those before it. The clock gives each article a time that is
 * not before the times that it gave earlier. Times that an import brought have no order.
 */
function compareTime({ seq, ingestedAt, isStamped, faults }: NumberedRow, order: Order): void {
  // A segment that was made meanwhile may begin with articles that were compared already.
  if (seq <= order.seq) return
  order.seq = seq
  if (isStamped === null) order.unknown++
  if (isStamped !== true) return
  const isLater = ingestedAt !== null && ingestedAt >= (order.latest ?? ingestedAt)
  if (isLater) order.latest = ingestedAt
  else faults.push(['order', 'have earlier times of ingestion than articles before them'])
}

const isNamedRight = ({ outlet, authors }: NumberedRow) =>
  (outlet === null || isOutletRight(...outlet)) &&
  authors.every(
    ([id, outlet, name, folded]) => id === authorId(outlet, name) && folded === foldName(name),
  )

const isOutletRight: (...outlet: NonNullable<NumberedRow['outlet']>) => boolean = (
  key,
  name,
  domain,
  ...folded
) =>
  key === outletKey({ name, domain }) &&
  isDeepStrictEqual(folded, [foldName(name ?? ''), foldName(domain ?? '')])

/** Writes numbers as `articles 3, 5 and 12 others`. */
function articlesInWords(seqs: bigint[]): string {
  const others = seqs.length - NAMED
  return `articles ${seqs.slice(0, NAMED).join(', ')}${others > 0 ? ` and ${others} others` : ''}`
}

interface StoredSegment {
  meta: SegmentMeta
  /** undefined: the columns cannot be read. */
  columns: Columns | undefined
  dictionary: TermDictionary
  /** Its articles that were taken out. */
  removed: ReadonlySet<bigint>
  /** null: it cannot be read. */
  lexicon: Buffer | null
}

async function compareSegment(
  stored: StoredSegment,
  build: () => Promise<BuiltSegment>,
  differ: (text: string, more?: number) => void,
): Promise<void> {
  const { meta, columns } = stored
  let built: BuiltSegment
  try {
    built = await build()
  } catch (error) {
    differ(`it cannot be built from its articles (${reasonOf(error)})`)
    return
  }
  const wanted = decodeColumns(built.columns)
  const published = spanOf(wanted.published)
  const ingested = spanOf(wanted.ingested)
  const row = {
    bucketBits: built.bucketBits,
    undated: wanted.size - wanted.dated,
    published,
    ingested,
  }
  for (const name of unlike(meta, row)) differ(`${name} of its row differs`)
  if (columns === undefined) differ('its columns cannot be read')
  // Segments of earlier versions have no term filter.
  else if (columns.terms.length === 0) columns.terms = wanted.terms
  for (const name of unlike(columns ?? wanted, wanted)) differ(`its column ${name} differs`)
  const seqOf = (doc: number) => meta.first + BigInt(wanted.offsets[doc] ?? 0)
  let lists = 0
  for (const text of unlikeLists(stored, built, seqOf)) if (++lists <= NAMED) differ(text)
  if (lists > NAMED) differ('more of its lists differ', lists - NAMED - 1)
  if (!isDeepStrictEqual(wordsOf(stored.lexicon), wordsOf(lexiconOf(built))))
    differ('its lexicon differs')
}

/** The lexicon of a segment that was built. */
function lexiconOf({ buckets }: BuiltSegment): Buffer {
  const blocks = buckets.filter(({ bucket }) => bucket >= LEXICON_BUCKET)
  return blocks.length === 0
    ? Buffer.from('\n')
    : decodeLexicon(Buffer.concat(blocks.map(({ block }) => block)))
}

/** The words of a lexicon, sorted: those that were read from a dictionary have no order. */
const wordsOf = (lexicon: Buffer | null) => lexicon?.toString().split('\n').sort()

/** The first and last of some times, in the form of a `SegmentMeta`. */
function spanOf(times: Float64Array): SegmentMeta['published'] {
  const known = times.filter(time => !Number.isNaN(time)).sort()
  return known.length === 0 ? null : { first: known[0]!, last: known.at(-1)! }
}

/** The names of the values in `stored` that differ from `wanted`. */
function unlike(stored: object, wanted: object): string[] {
  const own = new Map(Object.entries(stored))
  return Object.entries(wanted).flatMap(([name, value]) =>
    isDeepStrictEqual(own.get(name), value) ? [] : [name],
  )
}

/**
 * Tells which lists differ. Where the bytes of a bucket differ, it compares the lists, because
 * earlier versions wrote the same lists in another order.
 */
function* unlikeLists(
  { meta, dictionary: { blocks, starts }, removed }: StoredSegment,
  built: BuiltSegment,
  seqOf: (doc: number) => bigint,
): Generator<string> {
  const wanted = new Map(built.buckets.map(({ bucket, block }) => [bucket, block]))
  const none = emptySet(sizeOf(meta))
  for (let bucket = 0; bucket < 1 << built.bucketBits; bucket++) {
    const before = blocks.subarray(starts[bucket], starts[bucket + 1])
    const after = wanted.get(bucket) ?? Buffer.alloc(0)
    if (before.equals(after)) continue
    const stored = readBucket(before, sizeOf(meta))
    const made = readBucket(after, sizeOf(meta))
    if (stored === null || made === null) {
      yield `bucket ${bucket} cannot be read`
      continue
    }
    for (const term of new Set([...stored.keys(), ...made.keys()])) {
      const docs = unlikeDocs(stored.get(term) ?? none, made.get(term) ?? none)
      const seqs = docs.map(seqOf)
      // A word of an article that was taken out is shown nowhere.
      const name = seqs.some(seq => removed.has(seq)) ? 'a word' : JSON.stringify(term)
      if (docs.length > 0) yield `the list of ${name} differs in ${articlesInWords(seqs)}`
    }
  }
}

const unlikeDocs = (a: DocIdSet, b: DocIdSet) => [
  ...docsOf(difference(a, b)),
  ...docsOf(difference(b, a)),
]
