import { setTimeout as pause } from 'node:timers/promises'
import { type Brake, createBrake, noBrake } from '../pace.ts'
import type { Pool } from '../postgres.ts'
import { release } from '../segment/arrays.ts'
import { createSegmentBuilder, type KnownTexts, type SegmentSource } from '../segment/builder.ts'
import type { NgramThread } from '../segment/ngram-thread.ts'
import { createVocabulary, type Vocabulary } from '../segment/word-ids.ts'
import type { ArticleSource } from '../store/article-source.ts'
import { postgresArticles } from '../store/postgres-articles.ts'
import {
  idsDigest,
  openSegmentWriter,
  type SegmentWriter,
} from '../store/postgres-segment-writer.ts'
import {
  type NewSegment,
  type NumberedSegment,
  openReads,
  partsOf,
  type SegmentRange,
  type SegmentWork,
} from '../store/segment-store.ts'
import {
  mergesDue,
  nextFlush,
  partOfTime,
  remainderToFlush,
  SEGMENT_SIZES,
  type SegmentSizes,
} from './policy.ts'

/*
 * A flush makes a segment of new articles. A merge makes one segment of several. Each segment is
 * stored ahead, so that searches can read it, and used a moment later. A killed process may leave
 * an unused segment, which another process removes.
 */

/**
 * The two kinds of work never touch the same articles, so they may run at the same time. A merge
 * computes for a quarter of a minute, and new articles must not pile up during that time.
 */
export const KINDS: readonly SegmentWork[] = ['flush', 'merge']

export interface MakeOptions {
  kinds?: readonly SegmentWork[]
  /**
   * If another process works on one of these kinds, this call waits for it. Other kinds are left to
   * that process.
   */
  waitFor?: readonly SegmentWork[]
  /**
   * Makes pauses, so that other work gets the processors. Late segments are made without pauses.
   */
  gently?: boolean
  /**
   * ms for which a segment is stored before searches use it, so that they can read it ahead;
   * absent: searches use it at once. Unless `gently` is set, the next segment is built during this
   * time.
   */
  ahead?: number
  /**
   * Flushes the articles up to this `seq`, except the last ones if they are too few for a segment.
   * Later articles wait, because other processes may be writing them. Absent: flushes all articles,
   * but makes full segments only.
   */
  flushTo?: bigint
  /**
   * Keeps the words of flushed segments for the merge. Two calls must not use it at the same time.
   */
  knownWords?: KnownWords
  /** A thread that makes the n-grams, while this thread makes the posting lists of words. */
  ngrams?: NgramThread | undefined
  /** Runs the transaction that makes a stored segment visible; absent: it runs at once. */
  publishing?: (publish: () => Promise<void>) => Promise<void>
  /** Called for each stored segment. */
  onMade?: (made: MadeSegment) => void
}

export interface MadeSegment {
  kind: SegmentWork | 'import'
  articles: number
  ms: number
}

/** Called for each segment that a thread makes or cannot make, for logs and metrics. */
export interface SegmentEvents {
  made(segment: MadeSegment): void
  failed(kinds: readonly SegmentWork[], failure: string): void
}

/** Articles of an import that have no `seq` yet. Here they are numbered from 1. */
export interface ImportedArticles {
  sources: SegmentSource[]
  /** The words of each article, as `wordList` writes them. */
  titles: string[]
  bodies: string[]
}

/**
 * Makes all due segments. Segments of the first kind come first. If the process is killed, the next
 * call finishes its work.
 *
 * @returns the number of segments made
 */
export async function makeSegments(
  pool: Pool,
  sizes: SegmentSizes = SEGMENT_SIZES,
  options: MakeOptions = {},
): Promise<number> {
  const store = { writer: openSegmentWriter(pool), source: postgresArticles(openReads(pool)) }
  let made = 0
  for (let more = -1; more !== 0; made += more) more = await makeFirst(store, sizes, options)
  return made
}

/**
 * Makes a segment of the first kind that is due. The caller repeats this, because a flush, also of
 * another process, may make a merge due.
 */
async function makeFirst(store: Store, sizes: SegmentSizes, options: MakeOptions): Promise<number> {
  for (const kind of options.kinds ?? KINDS) {
    const made = await makeNext(store, sizes, kind, options)
    if (made > 0) return made
  }
  return 0
}

interface Store {
  writer: SegmentWriter
  source: ArticleSource
}

/**
 * Makes the next segment, or several flushes up to the next merge. Then it gives up the lock, so
 * that a waiting process gets a turn.
 *
 * @returns how many segments were made
 */
async function makeNext(
  store: Store,
  sizes: SegmentSizes,
  kind: SegmentWork,
  options: MakeOptions,
): Promise<number> {
  const wait = options.waitFor?.includes(kind) === true
  const made = await store.writer.exclusively(kind, wait, () =>
    makeRun(store, sizes, kind, options),
  )
  return made ?? 0
}

/** ms between two looks for new articles while a stored segment waits for its use. */
const LOOK_AGAIN = 100

async function makeRun(
  store: Store,
  sizes: SegmentSizes,
  kind: SegmentWork,
  options: MakeOptions,
): Promise<number> {
  const { ahead = 0, gently = false } = options
  let stored: Stored | null = null
  const useStored = async () => {
    const before = stored
    stored = null
    await before?.use()
  }
  let made = 0
  try {
    for (;;) {
      const due = await nextDue(store.writer, kind, { sizes, flushTo: options.flushTo }, stored)
      if (due !== null) {
        const { built, brake } = await build(store, due, options)
        await useStored()
        stored = await storeBuilt(store.writer, kind, built, { ...options, brake })
        made++
        if (ahead === 0 || gently || kind === 'merge' || made >= sizes.merged / sizes.flushed)
          return made
      } else if (isWaiting(stored)) await pause(LOOK_AGAIN)
      else if (stored === null) return made
      else await useStored()
    }
  } finally {
    // The stored segment is used even if building the next one fails.
    await useStored()
  }
}

/** A segment that is stored and not used yet. */
interface Stored {
  range: SegmentRange
  /** From this time on searches use the segment; on the clock of `performance`. */
  usedFrom: number
  /**
   * Makes the segment visible to searches after `usedFrom`. The caller must not build another
   * segment meanwhile. That would block the thread for seconds, and the transaction of this segment
   * would stay open.
   */
  use(): Promise<void>
}

const isWaiting = (stored: Stored | null) => stored !== null && performance.now() < stored.usedFrom

async function storeBuilt(
  writer: SegmentWriter,
  kind: SegmentWork,
  { segment, expects, texts, start }: Built,
  {
    ahead = 0,
    onMade = () => {},
    knownWords,
    publishing = publish => publish(),
    brake,
  }: MakeOptions & { brake: Brake },
): Promise<Stored> {
  const number =
    ahead > 0
      ? await writer.prepare(kind, segment, brake)
      : await writer.replace(segment, { brake, expects })
  if (texts !== null) knownWords?.keep(number, texts, segment)
  const now = performance.now()
  const made: MadeSegment = { kind, articles: segment.articles.length, ms: now - start }
  const usedFrom = now + ahead
  return {
    range: segment.range,
    usedFrom,
    async use() {
      if (ahead > 0) {
        await pause(Math.max(0, usedFrom - performance.now()))
        await publishing(() => writer.publish(number, expects))
      }
      onMade(made)
      await writer.removeUnused(brake)
    },
  }
}

/**
 * A range that is due to become a segment. `part`: the part of the time to work on it while it is
 * not late.
 */
interface Due {
  range: SegmentRange
  /** A merge will take this segment. */
  isPart: boolean
  part: number
  /** Whether the work must go on without pauses. */
  isLate(): Promise<boolean>
}

/** @param ahead the last segment of this kind, which is not used yet; null: there is none */
async function nextDue(
  writer: SegmentWriter,
  kind: SegmentWork,
  { sizes, flushTo }: { sizes: SegmentSizes; flushTo: bigint | undefined },
  ahead: Pick<Stored, 'range'> | null,
): Promise<Due | null> {
  const newest = await writer.readLastSeq()
  const used = await writer.readRanges()
  const stored = kind === 'merge' || ahead === null ? used : [...used, ahead.range]
  const flush = () =>
    flushTo === undefined
      ? nextFlush(stored, newest, sizes)
      : (nextFlush(stored, flushTo, sizes) ?? remainderToFlush(stored, flushTo, sizes))
  // A segment with words of articles that were taken out is written again, as a merge of one.
  const merge = async () => mergesDue(stored, sizes)[0] ?? (await writer.readUncleared())[0] ?? null
  const range = kind === 'flush' ? flush() : await merge()
  if (range === null) return null
  const partOf = (last: bigint, covered: bigint) =>
    partOfTime(kind, range, { newest: last, covered }, sizes)
  return {
    range,
    isPart: kind === 'flush' && range.last - range.first + 1n < sizes.merged,
    part: partOf(newest, stored.at(-1)?.last ?? 0n),
    isLate: async () => partOf(await writer.readLastSeq(), await writer.readStoredTo()) === 1,
  }
}

/** A segment to be stored. */
interface Built {
  segment: NewSegment
  /** Numbers of the segments that the new segment replaces. */
  expects: number[]
  /** The words of the segment; null: they are not kept. */
  texts: KnownTexts | null
  /** When the work began, on the clock of `performance`. */
  start: number
}

async function build(
  { writer, source }: Store,
  { range, isPart, part, isLate }: Due,
  { gently = false, knownWords, ngrams }: MakeOptions,
): Promise<{ built: Built; brake: Brake }> {
  const start = performance.now()
  let ownBrake = gently && part < 1 ? createBrake(part) : noBrake
  const brake = () => ownBrake()
  // Read first: what is taken out from here on is taken out of the segment later.
  const cleared = await writer.readLastRemoval()
  const replaced = await writer.readNumbers(range)
  const expects = replaced.map(({ no }) => no).sort((a, b) => a - b)
  const articles = await readSources(source, range, brake)
  // Words that were kept may be those of articles that were taken out meanwhile.
  const areClear = replaced.every(({ isClear }) => isClear)
  const known = areClear ? (knownWords?.take(replaced) ?? null) : null
  const vocabulary = known?.[0]?.vocabulary ?? knownWords?.vocabulary
  const words = known?.reduce((sum, texts) => sum + texts.words.length, 0)
  const builder = createSegmentBuilder(articles, range.first, {
    brake,
    words,
    vocabulary,
  })
  if (known === null) {
    for await (const { seq, title, body } of source.readWords(range))
      builder.addWords(seq, title, body)
  } else {
    for (const texts of known) {
      builder.addTexts(texts)
      release(texts.words)
    }
  }
  // Many articles may have come meanwhile, for instance from an import, so the segment may be late.
  if (ownBrake !== noBrake && (await isLate())) ownBrake = noBrake
  const texts = isPart && knownWords !== undefined ? builder.knownTexts() : null
  return {
    built: {
      segment: { range, articles, built: await builder.build(ngrams), cleared },
      expects,
      texts,
      start,
    },
    brake,
  }
}

/** How many articles one statement reads. */
const SOURCES_PER_STATEMENT = 2_048n

async function readSources(
  source: ArticleSource,
  range: SegmentRange,
  brake: Brake,
): Promise<SegmentSource[]> {
  const articles: SegmentSource[] = []
  for (const part of partsOf(range, SOURCES_PER_STATEMENT)) {
    brake()
    articles.push(...(await source.readSources(part)))
  }
  return articles
}

/** Builds the segment of some stored articles from their words. */
export async function segmentOf(source: ArticleSource, range: SegmentRange): Promise<NewSegment> {
  const articles = await source.readSources(range)
  const builder = createSegmentBuilder(articles, range.first)
  for await (const { seq, title, body } of source.readWords(range))
    builder.addWords(seq, title, body)
  return { range, articles, built: await builder.build() }
}

/**
 * Keeps the words of flushed segments as ids for the next merge. The merge then need not read and
 * look up the words of 65,536 articles again. A word takes four bytes.
 */
export interface KnownWords {
  /** For the words of the next segment. */
  readonly vocabulary: Vocabulary
  /** Keeps the texts of a stored segment. The texts of an imported segment are numbered from 1. */
  keep(segmentNo: number, texts: KnownTexts, segment: Pick<NewSegment, 'range' | 'articles'>): void
  /**
   * Returns the texts of some segments, all with one vocabulary, and forgets them. Null: the texts
   * of some segments are missing, or have another vocabulary.
   */
  take(segments: NumberedSegment[]): KnownTexts[] | null
}

/** The most words that are kept. Two merged segments have this many, in a quarter of a gigabyte. */
const MOST_WORDS = 1 << 26

/**
 * After a segment with which a vocabulary has more terms, segments get a new one. News has some
 * hundred thousand words, and more stems, words in titles and authors.
 */
const LARGEST_VOCABULARY = 1 << 21

/**
 * Keeps texts by the number of their segment. A segment whose words were made anew has another
 * number. After a failover, the same number may be given to a segment of other articles. So `take`
 * also compares the digest of the articles' ids.
 *
 * @param largest tests make it small
 */
export function createKnownWords(largest: number = LARGEST_VOCABULARY): KnownWords {
  const known = new Map<number, KnownTexts & { first: bigint; digest: Buffer }>()
  let vocabulary = createVocabulary()
  let words = 0
  const drop = (segmentNo: number, texts: KnownTexts) => {
    known.delete(segmentNo)
    words -= texts.words.length
  }
  return {
    get vocabulary() {
      if (vocabulary.names.length > largest) vocabulary = createVocabulary()
      return vocabulary
    },
    keep(segmentNo, texts, { range, articles }) {
      const before = known.get(segmentNo)
      if (before !== undefined) drop(segmentNo, before)
      known.set(segmentNo, { ...texts, first: range.first, digest: idsDigest(articles) })
      words += texts.words.length
      for (const [oldest, { words: held }] of known) {
        if (words <= MOST_WORDS) return
        drop(oldest, known.get(oldest)!)
        release(held)
      }
    },
    take(segments) {
      const found = segments.flatMap(({ no, digest }) => {
        const texts = known.get(no)
        return texts !== undefined && digest !== null && texts.digest.equals(digest) ? [texts] : []
      })
      const isOfOne = found.every(texts => texts.vocabulary === found[0]!.vocabulary)
      if (found.length === 0 || found.length < segments.length || !isOfOne) return null
      return segments.map(({ no, first }, at) => {
        const texts = found[at]!
        drop(no, texts)
        const shift = first - texts.first
        return shift === 0n ? texts : { ...texts, seqs: texts.seqs.map(seq => seq + shift) }
      })
    },
  }
}
