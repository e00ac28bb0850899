import { setTimeout as pause } from 'node:timers/promises'
import { noBrake } from '../pace.ts'
import { type Client, type Pool, transaction } from '../postgres.ts'
import type { SegmentSource } from '../segment/builder.ts'
import { ingestedInto } from '../segment/columns.ts'
import { postgresArticles } from '../store/postgres-articles.ts'
import {
  type AheadSegment,
  lockImported,
  lockSegments,
  readCovered,
  removeAhead,
  replaceSegments,
  storeAhead,
  useImported,
} from '../store/postgres-segment-writer.ts'
import { openReads } from '../store/segment-store.ts'
import type { ArticleWriter, Importer, Indexer, WrittenRow } from '../types.ts'
import { type Claim, claimIdentities, findKnown, registerNames } from './identity.ts'
import type { Indexed, NewArticle } from './new-article.ts'
import { AHEAD } from './scheduler.ts'
import { segmentOf } from './segments.ts'
import {
  createPartitionRoom,
  enteredAt,
  findWritten,
  HOLDS_CLOCK,
  type IdentifiedArticle,
  insertNumbered,
  minding,
  prepareBatch,
  storableNames,
  takeNumbers,
  unitsOf,
  valuesOf,
} from './writer.ts'

/*
 * An import builds a segment whose articles are numbered from 1. No other process waits meanwhile.
 * One short transaction then draws the real numbers, writes the rows and uses the segment. If this
 * transaction fails, the import tries again.
 */

interface ImportParts {
  pool: Pool
  writer: ArticleWriter
  indexer: Pick<Indexer, 'imported'>
  /** ms until the articles are due for embedding. */
  embedDelay: number
  /**
   * Called with the number of written articles, of articles that were known before, and of those
   * that an operator has taken out.
   */
  written(counts: Written): void
  /** Repeats work while Postgres is away; absent: work that fails is not repeated. */
  patiently?: <T>(work: () => Promise<T>) => Promise<T>
  /** Absent: `SIZES`. Tests use small sizes. */
  sizes?: ImportSizes
  /** ms for which a segment is stored before it is used. Tests make it short. */
  ahead?: number
  /**
   * ms for which the transaction of a segment may hold the clock. The transaction usually takes a
   * few seconds.
   */
  holdsClock?: number
}

export interface Written {
  indexed: number
  known: number
  removed: number
}

interface ImportSizes {
  /**
   * The most articles of a segment. The clock is held while their rows are copied, so this bounds
   * the time.
   */
  most: number
  /**
   * Fewer articles are written in the same way as crawled articles, without a segment of their own.
   * Each segment makes every search longer.
   */
  least: number
  /** A segment with this many code units of text is full. */
  text: number
}

const SIZES: ImportSizes = { most: 4_096, least: 1_024, text: 16_000_000 }

/**
 * How many articles have the same stamp. A client that polls from its newest time on receives at
 * most this many articles again.
 */
const PER_STAMP = 100

/**
 * After a transaction held the clock too long, the importer makes no segment for this many times
 * `holdsClock`. The machine may have been busy.
 */
const RESTS = 10

/**
 * How often the importer tries to make a segment visible. After that it writes its articles in the
 * same way as crawled articles.
 */
const ATTEMPTS = 5

export function openImporter(parts: ImportParts): Importer {
  const { indexer, sizes = SIZES, patiently = work => work() } = parts
  const write = createSegmentWriter({ ...parts, patiently })
  let merging: Promise<void> | null = null
  const merge = () => {
    merging ??= patiently(indexer.imported.merge).finally(() => {
      merging = null
    })
    return merging
  }
  let taken: NewArticle[] = []
  let text = 0
  /** The transaction of the newest stored segment, which begins after all transactions before. */
  let using: Promise<void> = Promise.resolve()
  /** The transaction before that one. */
  let usingBefore: Promise<void> = Promise.resolve()
  /** The segment that is built while the articles of the next one come. */
  let building: Promise<void> = Promise.resolve()
  let isStopped = false

  async function writeNext(): Promise<void> {
    const articles = taken.slice(0, sizes.most)
    taken = taken.slice(sizes.most)
    text = taken.reduce((sum, article) => sum + unitsOf(article), 0)
    const prepared = articles.length < sizes.least ? null : write.prepare(articles)
    prepared?.catch(() => {}) // reported below
    await building
    // `stop` may have waited for the same segment, and waits for no later one.
    if (isStopped) return
    building = prepared === null || write.isSlow() ? writeFew(articles) : writeSegment(prepared)
    building.catch(() => {}) // the next `await building` reports the error
  }
  async function writeFew(articles: NewArticle[]): Promise<void> {
    await using
    await write.singly(articles)
  }
  async function writeSegment(prepared: Promise<Prepared>): Promise<void> {
    merge().catch(() => {}) // `flush` tries again, and reports the error
    const built = await write.build(await prepared)
    // A stored segment waits for a second until it is used. The next two are built meanwhile.
    await usingBefore
    usingBefore = using
    using = usingBefore.then(() => write.use(built))
    using.catch(() => {}) // the next `await` reports the error
  }
  return {
    async add(articles) {
      for (const article of articles) {
        taken.push(storableNames(article))
        text += unitsOf(article)
        if (taken.length >= sizes.most || text >= sizes.text) await writeNext()
      }
    },
    async flush() {
      while (taken.length > 0) await writeNext()
      await building
      await using
      await merging?.catch(() => {})
      await merge()
    },
    writeSingly: write.singly,
    waiting: () => taken.length,
    async stop() {
      isStopped = true
      taken = []
      await building.catch(() => {})
      await using.catch(() => {})
      await merging?.catch(() => {})
    },
  }
}

type PatientParts = ImportParts & Required<Pick<ImportParts, 'patiently'>>

function createSegmentWriter(parts: PatientParts) {
  const { pool, written, holdsClock = HOLDS_CLOCK } = parts
  const prepare = (articles: NewArticle[], claims: Claim[] | null = null) =>
    parts.patiently(async () => {
      // Runs for each segment, because the import's own articles may have filled a partition.
      await createPartitionRoom(pool).ensure()
      return prepareSegment(parts, articles, claims ?? (await findKnown(pool, articles)))
    })
  const build = (prepared: Prepared) => parts.patiently(() => buildSegment(parts, prepared))
  const singly = (articles: NewArticle[]) => writeSingly(parts, articles)
  let slowUntil = 0
  const isSlow = () => performance.now() < slowUntil
  return {
    prepare,
    build,
    singly,
    /** Whether Postgres is so slow that other processes would wait too long for the clock. */
    isSlow,
    /**
     * Makes the articles of a segment visible. If other processes have written some of them, this
     * builds another segment without these articles.
     */
    async use(built: Built): Promise<void> {
      for (let attempt = 1; built.ahead !== null && !isSlow() && attempt <= ATTEMPTS; attempt++) {
        written({ indexed: 0, ...built.left })
        const claims = await useSegment(parts, built, built.ahead)
        if (claims === null) {
          written({ indexed: built.articles.length, ...NONE_LEFT })
          return
        }
        if (claims === 'too slow') slowUntil = performance.now() + RESTS * holdsClock
        // `written` has already been told of the articles that were left out.
        built =
          claims === 'too slow'
            ? { ...built, left: NONE_LEFT }
            : await build(await prepare(built.inputs, claims))
      }
      written({ indexed: 0, ...built.left })
      if (built.ahead !== null) await removeUnused(pool, built.ahead)
      if (built.inputs.length > 0) await singly(built.inputs)
    },
  }
}

/** Articles that shall become one segment. */
interface Prepared {
  inputs: NewArticle[]
  /** The same articles as rows; empty: there are too few for a segment. */
  articles: IdentifiedArticle[]
  /** The numbers of articles that were known or taken out before. The segment lacks them. */
  left: Omit<Written, 'indexed'>
}

const NONE_LEFT = { known: 0, removed: 0 }

interface Built extends Prepared {
  /** The stored segment of `articles`; null: too few articles are new. */
  ahead: AheadSegment | null
  /** When the segment was stored, on the clock of `performance`. */
  at: number
}

async function prepareSegment(
  { pool, sizes = SIZES }: ImportParts,
  all: NewArticle[],
  claims: Claim[],
): Promise<Prepared> {
  const inputs = all.filter((_, at) => !claims[at]!.known)
  const removed = claims.filter(claim => claim.removed).length
  const left = { known: all.length - inputs.length - removed, removed }
  if (inputs.length < sizes.least) return { inputs, articles: [], left }
  const ids = claims.filter(claim => !claim.known).map(({ id }) => id)
  const { prepared } = await prepareBatch(pool, inputs)
  return { inputs, articles: prepared.map((one, at) => ({ ...one, id: ids[at]! })), left }
}

async function buildSegment({ indexer }: ImportParts, prepared: Prepared): Promise<Built> {
  const { inputs, articles } = prepared
  if (articles.length === 0) return { ...prepared, ahead: null, at: 0 }
  const ahead = await indexer.imported.build({
    sources: articles.map((row, at): SegmentSource => sourceOf(row, inputs[at]!, BigInt(at + 1))),
    titles: articles.map(row => textOf(row.words.title)),
    bodies: articles.map(row => textOf(row.words.body)),
  })
  return { ...prepared, ahead, at: performance.now() }
}

function sourceOf(
  row: IdentifiedArticle,
  { country, language }: NewArticle,
  seq: bigint,
): SegmentSource {
  const { id, publishedAt, publisherNo, authorNos } = row
  return {
    seq,
    id,
    published: publishedAt?.getTime() ?? null,
    ingested: null,
    country,
    language,
    publisherNo,
    authorNos,
    ...row.stated,
  }
}

const utf8 = new TextDecoder()
const textOf = (text: string | Uint8Array) => (typeof text === 'string' ? text : utf8.decode(text))

/**
 * Makes the articles of a segment visible.
 *
 * @returns null: they are visible. Any other result: nothing was written. Claims: articles were
 *   known, ids or names differ, the segment was removed, or too many articles before it have no
 *   segment. 'too slow': the server ended the transaction because it held the clock too long
 */
async function useSegment(parts: PatientParts, built: Built, segment: AheadSegment) {
  const { pool, indexer, embedDelay, holdsClock = HOLDS_CLOCK } = parts
  // Searches read the segment ahead during this pause.
  await pause(Math.max(0, built.at + (parts.ahead ?? AHEAD) - performance.now()))
  /**
   * Rows of the last attempt that came to its commit. The answer to the commit may have been lost.
   * All attempts before it have failed, because this attempt could claim the articles.
   */
  let tried: WrittenRow[] = []
  const attempt = async () => {
    await indexer.imported.cover()
    const using = transaction(pool, async client => {
      tried = await useWithin(client, built, segment, {
        embedAt: new Date(Date.now() + embedDelay),
        holdsClock,
      })
    })
    await minding(pool, using, holdsClock).catch(async error => {
      if (error.code === TIMED_OUT) throw new TooSlow()
      const isKnown = error instanceof OtherClaims && tried.length > 0
      if (!isKnown || (await findWritten(pool, tried)).size < tried.length) throw error
    })
  }
  try {
    await parts.patiently(attempt)
    return null
  } catch (error) {
    await removeUnused(pool, segment)
    if (error instanceof OtherClaims) return error.claims
    if (error instanceof TooSlow) return 'too slow'
    throw error
  }
}

/** If this fails, another process removes the segment some minutes later. */
const removeUnused = (pool: Pool, segment: AheadSegment) =>
  removeAhead(pool, segment).catch(() => {})

class OtherClaims extends Error {
  override name = 'OtherClaims'
  readonly claims: Claim[]
  constructor(claims: Claim[]) {
    super(
      'other processes have written some of the articles, or removed the segment, or names have other numbers',
    )
    this.claims = claims
  }
}

/**
 * The code of the error when `transaction_timeout` ends a transaction. This limit starts when the
 * clock is taken. A second attempt would hold the clock as long, so there is none.
 */
const TIMED_OUT = '25P04'
class TooSlow extends Error {}

/** @returns the rows that become visible with the commit */
async function useWithin(
  client: Client,
  built: Built,
  segment: AheadSegment,
  { embedAt, holdsClock }: { embedAt: Date; holdsClock: number },
): Promise<WrittenRow[]> {
  const { inputs, articles } = built
  const claims = await claimIdentities(client, inputs)
  const namesOf = await registerNames(client, inputs)
  const isAsBuilt = articles.every((article, at) => {
    const { publisherNo, authorNos } = namesOf(inputs[at]!)
    const { id, known } = claims[at]!
    return (
      !known &&
      id === article.id &&
      publisherNo === article.publisherNo &&
      `${authorNos}` === `${article.authorNos}`
    )
  })
  if (!isAsBuilt) throw new OtherClaims(claims)
  const columns = await lockImported(client, segment)
  // Another process may have removed the segment after some minutes, or a failover may have undone
  // it. The importer then builds it anew.
  if (columns === null) throw new OtherClaims(claims)
  const parts: unknown[][] = []
  for (let from = 0; from < articles.length; from += PER_STAMP)
    parts.push(valuesOf(articles.slice(from, from + PER_STAMP), embedAt))
  const { base, stamp } = await takeNumbers(client, articles.length, parts.length, holdsClock)
  const stampOf = (at: number) => new Date(stamp.getTime() + Math.floor(at / PER_STAMP))
  for (const [part, values] of parts.entries()) {
    const from = part * PER_STAMP
    await insertNumbered(client, values, { base: base + BigInt(from), stamp: stampOf(from) })
  }
  await lockSegments(client)
  if (!(await coverBefore(client, base))) throw new OtherClaims(claims)
  const rows = articles.map(
    ({ id, ingestedAt }, at): WrittenRow => ({
      seq: base + BigInt(at + 1),
      id,
      ingestedAt: enteredAt(ingestedAt, stampOf(at)),
    }),
  )
  const ingested = rows.map(row => row.ingestedAt?.getTime() ?? null)
  await useImported(client, segment, {
    first: base + 1n,
    columns: ingestedInto(columns, ingested),
    ingested,
  })
  return rows
}

/**
 * An import makes a segment of articles that other processes wrote between `cover` and the clock.
 * Such a segment has at most this many articles.
 */
const MOST_BEFORE = 4_096n

/**
 * Stores a segment of the articles of other processes up to `last` that have no segment. Segments
 * have no gaps, so this comes before the import's own segment. No process can write articles
 * meanwhile, because we hold the clock.
 *
 * @returns false: there are too many articles, and all other processes would wait too long
 */
async function coverBefore(client: Client, last: bigint): Promise<boolean> {
  const first = (await readCovered(client)) + 1n
  if (first > last) return true
  if (last - first >= MOST_BEFORE) return false
  const segment = await segmentOf(postgresArticles(openReads(client)), { first, last })
  // The kind can be any, because no other process sees this segment before it is used.
  const { no } = await storeAhead(client, 'merge', segment, noBrake)
  await replaceSegments(client, no, [])
  return true
}

/**
 * Writes articles in the same way as crawled articles. An attempt may write articles although its
 * answer is lost. The next attempt does not count those articles as known.
 *
 * @returns how many were new
 */
async function writeSingly(parts: PatientParts, articles: NewArticle[]): Promise<number> {
  const { pool, writer, written } = parts
  const tried = new Map<string, WrittenRow>()
  const note = (rows: WrittenRow[]) => {
    for (const row of rows) tried.set(row.id, row)
  }
  const outcomes = await parts.patiently(async () => {
    const results = await writer.write(articles, { numbered: note })
    const added = new Set(results.flatMap(({ outcome, id }) => (outcome === 'indexed' ? [id] : [])))
    const own = await findWritten(
      pool,
      [...tried.values()].filter(({ id }) => !added.has(id)),
    )
    return results.map(({ outcome, id }) => (own.delete(id) ? 'indexed' : outcome))
  })
  const count = (wanted: Indexed['outcome']) => outcomes.filter(one => one === wanted).length
  const indexed = count('indexed')
  written({ indexed, known: count('known'), removed: count('removed') })
  return indexed
}
