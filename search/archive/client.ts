import { createRequire } from 'node:module'
import { setTimeout as pause } from 'node:timers/promises'
import type { Pool } from 'undici'
import { reasonOf } from '../postgres.ts'

/** The settings that lead to the archive in OpenSearch. */
export interface ArchiveSettings {
  /** Addresses of nodes. Each node can answer every request. */
  nodes: readonly string[]
  user: string
  password: string
  /** The names of all indices of the archive begin with this text. */
  prefix: string
  /** Certificates of trusted authorities; absent: the authorities that Node knows. */
  trust?: { ca?: string }
  /** Why this process refused a server's certificate, as a sentence; null for all other errors. */
  refusalOf?: (error: unknown) => string | null
  /** The most ms for a search with all its tries. */
  timeout: number
}

/** OpenSearch refused a request, or no node answered in time. */
export class ArchiveFailure extends Error {
  override name = 'ArchiveFailure'
  /** HTTP status of the answer; null: no node answered. */
  readonly status: number | null

  constructor(message: string, status: number | null, cause?: unknown) {
    super(message, { cause })
    this.status = status
  }
}

/** Some articles are in the archive alone, and the address of OpenSearch is not set. */
export class ArchiveMissing extends Error {
  override name = 'ArchiveMissing'

  constructor(releasedTo: bigint) {
    super(
      `The segments of the first ${releasedTo} articles were released, and the archive index alone has them: ` +
        'set OPENSEARCH_URL; to leave the archive, set it and run "npm run reindex -- --archive --empty".',
    )
  }
}

/**
 * A request to OpenSearch. The client may send it twice, so the second time must change nothing.
 */
export interface ArchiveRequest {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'HEAD'
  path: string
  /** JSON, or lines of JSON. */
  body?: string
  /** ms for all tries; the settings' timeout if absent. */
  within?: number
  /** ms for one try. After that the client asks another node. */
  each?: number
}

export interface ArchiveClient {
  /**
   * Sends a request to the nodes in turn until a node answers.
   *
   * @returns the answer's JSON
   * @throws ArchiveFailure
   */
  send(request: ArchiveRequest): Promise<unknown>
  close(): Promise<void>
}

const CONNECT_MS = 2_000
const SHORTEST_PAUSE = 100
const LONGEST_PAUSE = 1_000
/**
 * ms for which we avoid a node that did not answer. During this time the other nodes come first.
 */
const AVOIDED_MS = 5_000
/** The most connections to each node. */
const CONNECTIONS = 16
/** The most characters that an error quotes, of an answer and of a path. */
const EXCERPT = 300

/**
 * HTTP statuses of a node that is busy, or that misses a shard for a short time. The client sends
 * such a request again, because a copy of the shard takes over meanwhile.
 */
const PASSING = new Set([408, 429, 500, 502, 503, 504])

interface Node {
  pool: Pool
  /** The path of the node's address. All requests go below it. */
  base: string
  avoidedUntil: number
}

export function openArchiveClient({
  nodes,
  user,
  password,
  timeout,
  trust,
  refusalOf,
}: ArchiveSettings): ArchiveClient {
  // Loaded here, because most processes have no archive.
  const { Pool }: typeof import('undici') = createRequire(import.meta.url)('undici')
  const all: Node[] = nodes.map(address => {
    const { origin, pathname } = new URL(address)
    const options = {
      connections: CONNECTIONS,
      allowH2: false,
      connect: { timeout: CONNECT_MS, ...trust },
    }
    return { pool: new Pool(origin, options), base: pathname.replace(/\/$/, ''), avoidedUntil: 0 }
  })
  const headers: Record<string, string> = { 'content-type': 'application/json' }
  if (user !== '')
    headers.authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
  let turn = 0

  const nextNode = (): Node => {
    const now = performance.now()
    const from = turn++ % all.length
    const inTurn = [...all.slice(from), ...all.slice(0, from)]
    return inTurn.find(node => node.avoidedUntil <= now) ?? inTurn[0]!
  }
  /** @returns the answer; or the failure, when another try may succeed */
  const attempt = async (
    request: ArchiveRequest,
    left: number,
  ): Promise<{ answer: unknown } | ArchiveFailure> => {
    const node = nextNode()
    try {
      return { answer: await ask(node, headers, request, Math.min(left, request.each ?? left)) }
    } catch (error) {
      const failure = failureOf(error, request, refusalOf?.(error) ?? null)
      if (failure.status === null) node.avoidedUntil = performance.now() + AVOIDED_MS
      else if (!PASSING.has(failure.status)) throw failure
      return failure
    }
  }
  return {
    async send(request) {
      const end = performance.now() + (request.within ?? timeout)
      let wait = SHORTEST_PAUSE
      for (let tried = 1; ; tried++) {
        const result = await attempt(request, Math.max(1, end - performance.now()))
        if ('answer' in result) return result.answer
        // The client first tries every node once, without a pause. Later tries have growing pauses,
        // because all nodes are in trouble.
        const rest = tried < all.length ? 0 : wait
        if (performance.now() + rest >= end) throw result
        if (rest > 0) {
          await pause(rest)
          wait = Math.min(wait * 2, LONGEST_PAUSE)
        }
      }
    },
    async close() {
      await Promise.all(all.map(({ pool }) => pool.destroy()))
    },
  }
}

async function ask(
  { pool, base }: Node,
  headers: Record<string, string>,
  { method, path, body }: ArchiveRequest,
  within: number,
): Promise<unknown> {
  const answer = await pool.request({
    method,
    path: base + path,
    headers,
    body: body ?? null,
    signal: AbortSignal.timeout(Math.ceil(within)),
  })
  const text = await answer.body.text()
  if (answer.statusCode >= 300) throw refusal(answer.statusCode, text, method, path)
  return text === '' ? null : JSON.parse(text)
}

const refusal = (status: number, text: string, method: string, path: string) =>
  new ArchiveFailure(
    `OpenSearch answered ${status} to ${method} ${path.slice(0, EXCERPT)}: ${text.slice(0, EXCERPT)}`,
    status,
  )

function failureOf(
  error: unknown,
  { method, path }: ArchiveRequest,
  refusal: string | null,
): ArchiveFailure {
  if (error instanceof ArchiveFailure) return error
  if (refusal !== null)
    return new ArchiveFailure(`OpenSearch was not asked. ${refusal}`, null, error)
  const why = reasonOf(error)
  return new ArchiveFailure(
    `OpenSearch does not answer ${method} ${path.slice(0, EXCERPT)} (${why}); see whether its nodes at OPENSEARCH_URL run.`,
    null,
    error,
  )
}
