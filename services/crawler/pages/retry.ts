/** ms after its first try during which a failing page is tried again. */
const GIVE_UP = 86_400_000

/**
 * ms until a failed page is tried again: CRAWL_RETRY_MIN, doubled with each try. Null: the page is
 * given up, a day after its first try.
 *
 * @param attempts tries that failed, this one included
 * @param since ms since the first try
 */
export function retryAfter(attempts: number, since: number, retryMin: number): number | null {
  const wait = Math.max(1, retryMin) * 2 ** Math.min(attempts - 1, 30)
  if (since + wait <= GIVE_UP) return wait
  // The last try comes at the end of the day, unless this was it.
  return since < GIVE_UP - Math.min(retryMin, GIVE_UP / 2) ? GIVE_UP - since : null
}
