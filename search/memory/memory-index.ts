import { setImmediate } from 'node:timers/promises'
import type { Queryable } from '../../shared/postgres/pool.ts'
import { SOURCE_COLUMNS, type SourceRow, sourceOf } from '../store/postgres-segments.ts'
import { SegmentsChanged } from '../store/segment-store.ts'
import { keepArticles, type StoredArticle } from '../store/stored-articles.ts'
import { type Chunk, createChunk } from './memory-segment.ts'
import { createLexicon, type Lexicon } from './term-ids.ts'

/** The fresh articles that this process has read: those after `from` up to `last`. */
interface Store {
  /** When the words were made anew, what was read of them is out of date. */
  wordsVersion: bigint
  from: bigint
  last: bigint
  chunks: Chunk[]
  lexicon: Lexicon
  reading: Promise<void> | null
  /** Whether words are being listed. */
  listing: boolean
  /** What kept them from being listed: what is half in a list would spoil every search. */
  failure: Error | null
}

export interface FreshSizes {
  /** Articles of a chunk, a part of those of a small segment, which then takes the place of whole chunks. */
  chunk: bigint
  /** Words that a new chunk may find in the lexicon of those before. */
  lexicon: number
}

export const FRESH_SIZES: FreshSizes = { chunk: 4_096n, lexicon: 400_000 }

const stores = new WeakMap<Queryable, Store>()

/**
 * The articles after `covered` up to `last`, in chunks that may hold others too. Those not known yet are read; searches that
 * come meanwhile wait for the same reading. What segments hold by now is dropped.
 *
 * @param covered articles up to here are in segments
 * @throws SegmentsChanged when another search knows a later state of the index
 */
export async function readFresh(
  db: Queryable,
  { covered, last, wordsVersion }: { covered: bigint; last: bigint; wordsVersion: bigint },
  sizes = FRESH_SIZES,
): Promise<readonly Chunk[]> {
  let store = stores.get(db)
  if (store?.failure) {
    stores.delete(db)
    throw store.failure
  }
  if (store !== undefined && wordsVersion < store.wordsVersion) throw new SegmentsChanged('words were made anew')
  if (store === undefined || store.last < covered || store.wordsVersion !== wordsVersion) {
    store = {
      wordsVersion,
      from: covered,
      last: covered,
      chunks: [],
      lexicon: createLexicon(),
      reading: null,
      listing: false,
      failure: null,
    }
    stores.set(db, store)
  }
  const own: Store = store
  while (own.last < last) {
    own.reading ??= readMore(db, own, last, sizes).finally(() => {
      own.reading = null
    })
    await own.reading
  }
  if (own.failure) throw own.failure
  if (covered < own.from) throw new SegmentsChanged('fresh articles moved on into a segment')
  drop(own, covered)
  return [...own.chunks]
}

/** Chunks of which segments hold every article go; the last one stays, it may still grow. */
function drop(store: Store, covered: bigint): void {
  while (store.chunks.length > 1) {
    const end = store.chunks[0]!.documents.at(-1)!.seq
    if (end > covered) return
    store.chunks.shift()
    store.from = end
  }
}

/** Articles read at a time: some may be megabytes. */
const PART = 64n
/** Longest the event loop is held at a time, in ms, but for a single article of megabytes. */
const SLICE = 5

async function readMore(db: Queryable, store: Store, last: bigint, sizes: FreshSizes): Promise<void> {
  const to = store.last + PART < last ? store.last + PART : last
  const { rows } = await db.query<FreshRow>({ name: 'search-fresh', text: FRESH, values: [store.last, to] })
  // Whoever lists or polls asks for these first. What fails here is read when it is shown.
  const kept = keepArticles(db, rows.map(storedOf)).catch(() => {})
  try {
    await addAll(store, rows, sizes)
  } catch (error) {
    // An article that is half in would spoil all that follow: the next search reads everything anew.
    if (stores.get(db) === store) stores.delete(db)
    throw error
  }
  await kept
  store.last = to
  if (!store.listing) void listAll(store)
}

async function addAll(store: Store, rows: FreshRow[], sizes: FreshSizes): Promise<void> {
  let start = performance.now()
  for (const row of rows) {
    chunkFor(store, row.seq, sizes).add({ ...sourceOf(row), title: row.title, body: row.body })
    store.last = row.seq
    if (performance.now() - start < SLICE) continue
    await setImmediate()
    start = performance.now()
  }
}

/** ms that a search may have to wait because words are listed. */
const PAUSE = 1

/** Lists the words of all articles read so far, between other work. */
async function listAll(store: Store): Promise<void> {
  store.listing = true
  try {
    let start = performance.now()
    while (store.chunks.some(chunk => chunk.listNext())) {
      if (performance.now() - start < PAUSE) continue
      await setImmediate()
      start = performance.now()
    }
  } catch (error) {
    store.failure = error instanceof Error ? error : new Error(String(error))
  } finally {
    store.listing = false
  }
}

/** Chunks end where segments may. */
function chunkFor(store: Store, seq: bigint, sizes: FreshSizes): Chunk {
  const place = (one: bigint) => (one - 1n) / sizes.chunk
  const chunk = store.chunks.at(-1)
  if (chunk !== undefined && place(chunk.documents.at(-1)!.seq) === place(seq)) return chunk
  // What is met once is never forgotten: now and then it begins anew.
  if (store.lexicon.words > sizes.lexicon) store.lexicon = createLexicon()
  const next = createChunk(store.lexicon)
  store.chunks.push(next)
  return next
}

interface FreshRow extends SourceRow {
  title: string
  body: string
  shown_title: string
  url: string
  snippet: string | null
}

function storedOf({ published, ingested, shown_title, ...row }: FreshRow): StoredArticle {
  const date = (time: number | null) => (time === null ? null : new Date(time))
  return { ...row, title: shown_title, published_at: date(published), ingested_at: date(ingested) }
}

// $1 after, $2 to. Indexes: the primary keys.
const FRESH = `
  select ${SOURCE_COLUMNS}, w.title, w.body, t.title as shown_title, t.url, t.snippet
  from articles a join article_words w on w.seq = a.seq join article_texts t on t.seq = a.seq
  where a.seq > $1 and a.seq <= $2 and w.seq > $1 and w.seq <= $2 and t.seq > $1 and t.seq <= $2
  order by a.seq`
