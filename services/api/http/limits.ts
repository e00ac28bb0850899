/** How much time and memory one client may take; docs/operations.md lists them. Times in ms. */
export const HTTP_LIMITS = {
  /**
   * Bytes of request line and headers. A request line with the longest values of all parameters,
   * percent-encoded, and every usual header take under 32 KB.
   */
  headerBytes: 32_768,
  /** Headers of a request. A browser sends about twenty, a chain of proxies a dozen more. */
  headers: 100,
  /**
   * Bytes of a header in which a client lists what it accepts. Parsing a longer header costs more
   * than an answer.
   */
  negotiation: 1_024,
  /** Time in which all headers of a request have to arrive. */
  headersTimeout: 10_000,
  /**
   * Time in which a whole request has to arrive, with the body that a few paths read (`body.ts`).
   * The connection of a slower request is ended.
   */
  requestTimeout: 15_000,
  /** Time without any byte from or to a client, after which its connection ends. */
  silenceTimeout: 60_000,
  /**
   * Time for which an idle connection stays open. It is longer than the usual 60 s of load
   * balancers, so that they close a connection first.
   */
  keepAliveTimeout: 65_000,
  /** Time after which Node checks `headersTimeout` and `requestTimeout` again. */
  checkInterval: 2_000,
  /**
   * Time in which an answer has to end, counted from its request, or from the end of the answer
   * before it. A client that takes a byte a minute is never silent, but keeps its page in memory.
   */
  answerTimeout: 300_000,
  /**
   * Requests of a connection before it ends. The client then connects again, perhaps to a process
   * that started later.
   */
  requestsPerConnection: 1_000,
  /**
   * Requests of a connection that wait for their answers. One packet holds thousands, and Node
   * would begin all at once.
   */
  unanswered: 32,
  /** Connections. Each takes some 20 KB while it is idle. */
  connections: 4_096,
  /**
   * Connections of one address (IPv6: of a /56). With TRUST_PROXY all clients have the proxy's
   * address, so this limit does not apply.
   */
  connectionsPerAddress: 1_024,
}
export type HttpLimits = typeof HTTP_LIMITS
