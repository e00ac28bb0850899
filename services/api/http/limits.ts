/** How much time and memory one client may take; docs/operations.md lists them. Times in ms. */
export const HTTP_LIMITS = {
  /**
   * Of request line and headers. A whole request line with the longest values of all parameters,
   * percent-encoded, and every usual header takes under 32 KB.
   */
  headerBytes: 32_768,
  /** A browser sends about twenty, a chain of proxies a dozen more. */
  headers: 100,
  /**
   * Bytes of a header by which a client says what it takes. Parsing a longer one costs more than an
   * answer.
   */
  negotiation: 1_024,
  /** To the end of the headers. */
  headersTimeout: 10_000,
  /**
   * To the end of the request. No body but that of a new feed is looked at; one that takes longer
   * ends its connection.
   */
  requestTimeout: 15_000,
  /** How long a peer may neither send nor take anything. */
  silenceTimeout: 60_000,
  /** Longer than the usual 60 s of load balancers, so that they close first. */
  keepAliveTimeout: 65_000,
  /** How often Node checks the first two. */
  checkInterval: 2_000,
  /**
   * To the end of an answer, from the end of the one before it or the request. A client that takes
   * a byte a minute is never silent, and keeps a page in memory.
   */
  answerTimeout: 300_000,
  /** Requests of a connection, which then ends. So clients spread over new processes too. */
  requestsPerConnection: 1_000,
  /**
   * Requests of a connection that wait for their answers. One packet holds thousands, and Node
   * would begin all at once.
   */
  unanswered: 32,
  /** Each takes some 20 KB while it is idle. */
  connections: 4_096,
  /** Without a proxy, one address (IPv6: a /56) may take a quarter of them. */
  connectionsPerAddress: 1_024,
}
export type HttpLimits = typeof HTTP_LIMITS
