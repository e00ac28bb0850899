/*
 * When a message is sent again. A send ends before the lease of its message does, so no two
 * processes send one message at a time.
 */

/** ms in which the receiver of a webhook must answer, all steps together. */
export const SENT_WITHIN = 10_000
/** ms in which the mail server must take a mail, all steps together. */
export const MAILED_WITHIN = 20_000
/** ms after which another notifier may send a message, in case the process that took it stopped. */
export const LEASE = 30_000
/** ms of failures after which an alert rests. */
export const GIVES_UP = 86_400_000

/** ms after the first failure, and the longest pause between two attempts. */
const FIRST = 5_000
const LONGEST = 600_000
/** The longest pause that a receiver may ask for (`Retry-After`): an hour. */
export const LONGEST_ASKED = 3_600_000

/**
 * ms until a message is sent again: twice as long after each attempt, and not before the receiver
 * wants it (`retryAfter`, ms). Half of the pause is random, so that messages that failed together
 * do not come again together.
 */
export function pauseAfter(
  attempts: number,
  retryAfter: number | null,
  random: number = Math.random(),
): number {
  const pause = Math.min(LONGEST, FIRST * 2 ** Math.min(attempts - 1, 30))
  return Math.max(pause * (0.5 + random / 2), Math.min(retryAfter ?? 0, LONGEST_ASKED))
}
