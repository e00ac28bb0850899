/**
 * Spreads the articles of an import over the time that their segments take. Every process that
 * searches takes in all new articles before it answers, so a search beside an import waits as long
 * as the articles come faster than they can be taken in. The thread that makes segments limits an
 * import anyway: a pause that only keeps the articles waiting for it few costs no time.
 */
export interface BulkPace {
  /**
   * @param last `seq` of the newest article, which was just written
   * @param covered articles up to this `seq` are in segments that are stored, used or not
   * @param now ms of any clock
   * @returns ms to wait before more is written
   */
  pause(last: bigint, covered: bigint, now: number): number
}

/** Articles a second until the first segment is there. */
const FIRST_RATE = 2_500

/**
 * Articles over which the rate of segments is measured: those of a merge, which comes in between.
 */
const WINDOW = 65_536n

/**
 * Parts of the pause while enough articles wait, and while too few do. Without them, articles would
 * come in a burst after each segment.
 */
const LEAST = 0.8
const HUNGRY = 0.6

/** ms. Articles may wait long for segments that cannot be made; the caller limits how many do. */
const LONGEST = 1_000

/**
 * @param enough articles that may wait for a segment without a pause: as many as a segment takes.
 *   With twice as many, articles come as fast as segments are made.
 */
export function createBulkPace(enough: bigint): BulkPace {
  /** When articles were found to be covered, oldest first, by the time in which enough waited. */
  const marks: { covered: bigint; at: number }[] = []
  let busy = 0
  let before: { last: bigint; now: number; excess: number } | null = null
  let due = -Infinity
  const rate = (): number => {
    const [oldest, newest] = [marks[0], marks.at(-1)]
    if (oldest === undefined || newest === undefined || newest.covered <= oldest.covered) return FIRST_RATE
    return (Number(newest.covered - oldest.covered) / Math.max(newest.at - oldest.at, 1)) * 1_000
  }
  return {
    pause(last, covered, now) {
      // A file that comes slowly says nothing of how fast segments can be made.
      if (before !== null && before.excess >= 0) busy += now - before.now
      const articles = before === null ? 0 : Number(last - before.last)
      const excess = Number(last - covered - enough) / Number(enough)
      before = { last, now, excess }
      if (marks.at(-1)?.covered !== covered) marks.push({ covered, at: busy })
      while (marks.length > 2 && covered - marks[1]!.covered >= WINDOW) marks.shift()
      const rest = (articles / rate()) * 1_000 * (excess < 0 ? HUNGRY : Math.max(excess, LEAST))
      // To write them took time as well.
      due = Math.max(now, due + Math.min(rest, LONGEST))
      return due - now
    },
  }
}
