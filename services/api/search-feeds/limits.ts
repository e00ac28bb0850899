/** Limits of what describes a feed. */
export const FEED_LIMITS = {
  /** Code points. */
  title: 191,
  /**
   * Characters of a query string: the longest values of all parameters, percent-encoded, take
   * 7,500.
   */
  search: 8_192,
  /** Bytes of a request's body: both of the above in JSON. */
  body: 16_384,
} as const
