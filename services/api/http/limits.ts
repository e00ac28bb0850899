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
   * Bytes of a header by which a client says what it takes. Parsing a longer one costs more than an
   * answer.
   */
  negotiation: 1_024,
  /** Time in which all headers of a request have to arrive. */
  headersTimeout: 10_000,
  /**
   * Time in which a whole request has to arrive. Few paths read a body (`body.ts`). A request that
   * takes longer ends its connection.
   */
  requestTimeout: 15_000,
  /** Time for which a peer may neither send nor take anything. */
  silenceTimeout: 60_000,
  /**
   * Time for which an idle connection stays open. Longer than the usual 60 s of load balancers, so
   * that they close first.
   */
  keepAliveTimeout: 65_000,
  /** Time after which Node checks `headersTimeout` and `requestTimeout` again. */
  checkInterval: 2_000,
  /**
   * Time in which an answer has to end, counted from its request, or from the end of the answer
   * before it. A client that takes a byte a minute is never silent, and keeps a page in memory.
   */
  answerTimeout: 300_000,
  /**
   * Requests of a connection, which then ends. So clients also come to processes that started
   * later.
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
   * Connections of one address (IPv6: of a /56). With TRUST_PROXY, one address may have all: that
   * of the proxy.
   */
  connectionsPerAddress: 1_024,
}
export type HttpLimits = typeof HTTP_LIMITS
