import { LRUCache } from 'lru-cache'
import { sortHashes } from '#search/analysis/index'
import type { Queryable } from '#shared/postgres/pool'
import { leastCommon } from './shingles.ts'

/** The sketch of an article. Comparing sketches finds articles that may be copies. */
export interface Sketch {
  seq: number
  /** The day of the article's time, in days since 1970 (UTC). */
  day: number
  shingles: number
  sample: Uint32Array
}

/** The most days between an article and its copy. Their times are at most a week apart. */
const DAYS = 7

/** The most articles of a run; a power of two. */
const RUN = 32_768

/**
 * An inverted index of the samples of articles of one day. A key combines a hash from a sample with
 * the place of its article: `hash * RUN + place`. The keys are sorted and the hashes evenly spread,
 * so the leading bits of a hash tell where it is. The keys whose leading bits are `n` stand from
 * `starts[n]` to before `starts[n + 1]`. `begun` has a bit for each value of the leading bits and
 * four more bits, which says whether a key has this value. Most hashes that a search looks up have
 * no key, and this bit tells so.
 */
interface Run {
  seqs: number[]
  shingles: number[]
  keys: Float64Array<ArrayBuffer>
  starts: Uint32Array
  begun: Uint32Array
  /** How many bits of a hash follow its leading bits. */
  shift: number
}

/** @param keys in any order */
function indexed({ keys, ...articles }: Pick<Run, 'seqs' | 'shingles' | 'keys'>): Run {
  sortHashes(keys)
  const shift = Math.clz32(keys.length + 1) + 1
  const starts = new Uint32Array(2 ** (32 - shift) + 1)
  const begun = new Uint32Array(starts.length / 2 + 1)
  for (const key of keys) {
    const beginning = (key / RUN) >>> (shift - 4)
    starts[(beginning >>> 4) + 1]!++
    begun[beginning >>> 5]! |= 1 << (beginning & 31)
  }
  for (let bits = 1; bits < starts.length; bits++) starts[bits]! += starts[bits - 1]!
  return { ...articles, keys, starts, begun, shift }
}

function runOf(sketches: Sketch[]): Run {
  const keys = new Float64Array(sketches.reduce((sum, { sample }) => sum + sample.length, 0))
  let end = 0
  sketches.forEach(({ sample }, place) => {
    for (const hash of sample) keys[end++] = hash * RUN + place
  })
  return indexed({
    seqs: sketches.map(({ seq }) => seq),
    shingles: sketches.map(one => one.shingles),
    keys,
  })
}

function merged(a: Run, b: Run): Run {
  const keys = new Float64Array(a.keys.length + b.keys.length)
  keys.set(a.keys)
  keys.set(
    b.keys.map(key => key + a.seqs.length),
    a.keys.length,
  )
  return indexed({ seqs: [...a.seqs, ...b.seqs], shingles: [...a.shingles, ...b.shingles], keys })
}

/** Adds to `found` the articles of a run that may be copies of a sketch. */
function addFrom(
  { seqs, shingles, keys, starts, begun, shift }: Run,
  sketch: Sketch,
  found: Set<number>,
): void {
  const counts = new Map<number, number>()
  for (const hash of sketch.sample) {
    const beginning = hash >>> (shift - 4)
    if (((begun[beginning >>> 5]! >>> (beginning & 31)) & 1) === 0) continue
    const bits = beginning >>> 4
    for (let at = starts[bits]!; at < starts[bits + 1]!; at++) {
      const place = keys[at]! - hash * RUN
      if (place >= 0 && place < RUN) counts.set(place, (counts.get(place) ?? 0) + 1)
    }
  }
  for (const [place, common] of counts) {
    if (common < leastCommon(Math.min(sketch.shingles, shingles[place]!))) continue
    if (seqs[place] !== sketch.seq) found.add(seqs[place]!)
  }
}

/** The most bytes of samples in memory. */
const KEPT = 64 * 2 ** 20
/**
 * The most bytes of a day that stays in memory. A larger day is read again for each batch, one run
 * at a time.
 */
const LARGEST_DAY = KEPT / 4
const EMPTY_DAY = 100
/** `isReadingMuch` is true when a search reads more samples than this for each of its articles. */
const FEW = 16

const bytesOf = (runs: Run[]) =>
  runs.reduce(
    (sum, run) => sum + run.keys.byteLength + 1.5 * run.starts.byteLength + 32 * run.seqs.length,
    EMPTY_DAY,
  )

// $1 day, $2 after, $3 RUN. Index: copy_sketches_day.
const OF_DAY = `
  select seq::float8 as seq, day, shingles, sample from copy_sketches
   where day = $1 and seq > $2 and first_seq is not null order by seq limit $3`

export interface Neighbours {
  /**
   * For each sketch, the `seq` of articles that may be copies. They are stored articles, or
   * others of `sketches`.
   */
  find(sketches: Sketch[]): Promise<Set<number>[]>
  /**
   * Whether the days that searches need do not fit in memory. Each search then reads them again.
   */
  isReadingMuch(): boolean
  /**
   * Adds articles that were just stored. Small runs are merged, so that each run has at most half
   * as many articles as the run before it.
   */
  add(sketches: Sketch[]): void
  clear(): void
}

/**
 * Finds the articles that may be copies of others, because their samples have enough in common.
 * Keeps the samples of recently requested days in memory.
 *
 * @param db returns the connection that the next statement uses
 */
export function createNeighbours(db: () => Queryable): Neighbours {
  const days = new LRUCache<number, Run[]>({ maxSize: KEPT, sizeCalculation: bytesOf })
  /** How many samples the last search has read from the database, divided by its articles. */
  let readForEach = 0

  async function* runsOf(day: number): AsyncGenerator<Run> {
    const known = days.get(day)
    if (known !== undefined) return yield* known
    let read: Run[] | null = []
    for (let after = 0, isLast = false; !isLast; ) {
      const { rows } = await db().query<Omit<Sketch, 'sample'> & { sample: Buffer }>(OF_DAY, [
        day,
        after,
        RUN,
      ])
      const run = runOf(withSamples(rows))
      readForEach += rows.length
      isLast = rows.length < RUN
      after = rows.at(-1)?.seq ?? after
      if (rows.length > 0) read?.push(run)
      if (read !== null && bytesOf(read) > LARGEST_DAY) read = null
      yield run
    }
    if (read !== null) days.set(day, read)
  }

  return {
    async find(sketches) {
      readForEach = 0
      const found = sketches.map(() => new Set<number>())
      const own = runOf(sketches)
      sketches.forEach((sketch, at) => {
        addFrom(own, sketch, found[at]!)
      })
      const asked = new Set(
        sketches.flatMap(({ day }) =>
          Array.from({ length: 2 * DAYS + 1 }, (_, n) => day - DAYS + n),
        ),
      )
      for (const day of [...asked].sort((a, b) => a - b)) {
        for await (const run of runsOf(day)) {
          for (const [at, sketch] of sketches.entries()) {
            if (Math.abs(sketch.day - day) <= DAYS) addFrom(run, sketch, found[at]!)
          }
        }
      }
      readForEach /= sketches.length
      return found
    },
    isReadingMuch: () => readForEach > FEW,
    add(sketches) {
      for (const [day, ofDay] of Map.groupBy(sketches, one => one.day)) {
        const known = days.get(day)
        if (known === undefined) continue
        const runs = [...known, runOf(ofDay)]
        for (let [a, b] = runs.slice(-2); a && b && isToMerge(a, b); [a, b] = runs.slice(-2)) {
          runs.splice(-2, 2, merged(a, b))
        }
        days.set(day, runs)
      }
    },
    clear: () => days.clear(),
  }
}

const isToMerge = (a: Run, b: Run) =>
  a.seqs.length < 2 * b.seqs.length && a.seqs.length + b.seqs.length <= RUN

/**
 * The bytes of a sample, as Postgres stores them: the lowest byte of a number comes first, as in
 * x64 and ARM processors.
 */
export const toBytes = ({ buffer, byteOffset, byteLength }: Uint32Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength)

/**
 * Decodes the samples of rows. All samples share one buffer, because many small buffers would
 * fragment the memory.
 */
function withSamples<T extends { sample: Buffer }>(
  rows: T[],
): (Omit<T, 'sample'> & { sample: Uint32Array })[] {
  const all = new Uint32Array(
    Uint8Array.from(Buffer.concat(rows.map(({ sample }) => sample))).buffer,
  )
  let end = 0
  return rows.map(row => {
    const start = end
    end += row.sample.length / 4
    return { ...row, sample: all.subarray(start, end) }
  })
}
