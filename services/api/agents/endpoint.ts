import { isIP } from 'node:net'
import type { Response as Answered, RequestHandler } from 'express'
import { accessOf, checkQuota } from '#services/api/access/access'
import type { Searches } from '#services/api/articles/find'
import { ApiError, invalid } from '#services/api/contract/errors'
import { sendOnce } from '#services/api/http/answer'
import { readBody } from '#services/api/http/body'
import type { Config } from '#shared/config/config'
import { listSets, namesIn, withSets } from '#shared/desk/outlet-sets'
import { isRecord } from '#shared/encoding/is-record'
import { DATA_NOTE, plain } from './text.ts'
import { type Answers, listedTools, queryOf, TOOLS, type Tool } from './tools.ts'

/** The most bytes of a message. The longest arguments take a third of this limit. */
const MOST_BYTES = 32_768

const INSTRUCTIONS = `News of the Netherlands, Belgium and Luxembourg, without full texts. Cite articles by outlet, date and link. ${DATA_NOTE}`

/** The parts of the API that requests of agents need. */
export interface EndpointParts {
  answers: Answers
  searchesOf(response: Answered): Searches
  /** Counts the request in the month of its key. */
  charge(response: Answered): Promise<void>
  /** Converts a thrown value into an `ApiError`, and records it for logs and metrics. */
  note(thrown: unknown, response: Answered): ApiError
  /** Runs work with a permit of its key for agents. */
  withAgentPermit<T>(response: Answered, work: () => Promise<T>): Promise<T>
  config: Pick<Config, 'SERVICE_NAME' | 'CORS_ORIGINS'>
  publicUrl: string
}

/**
 * `POST /mcp`: tools for agents, by the Model Context Protocol over streamable HTTP. A request gets
 * here only after its key is known and the minute of the key has counted it. The server keeps no
 * session, so any process can answer any request.
 */
export function agentEndpoint(parts: EndpointParts): RequestHandler[] {
  return [
    guard(parts),
    readBody(MOST_BYTES),
    async (request, response) => {
      response.set('Cache-Control', 'no-store')
      const message = parse(request.body)
      const version = request.get('mcp-protocol-version')
      const answer = isRecord(message)
        ? await parts.withAgentPermit(response, () =>
            answerMessage(parts, message, version, response),
          )
        : Response.json(NO_MESSAGE, { status: 400 })
      if (answer.status >= 400) response.locals.errorCode = 'invalid_request'
      response.status(answer.status)
      const text = await answer.text()
      if (text === '') response.end()
      else await sendOnce(request, response, 'application/json; charset=utf-8', text)
    },
  ]
}

function parse(body: unknown): unknown {
  if (!Buffer.isBuffer(body)) return null
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch {
    return null
  }
}

/** The error "invalid request" of JSON-RPC 2.0. */
const NO_MESSAGE = {
  jsonrpc: '2.0',
  id: null,
  error: {
    code: -32_600,
    message: 'Send one message of JSON-RPC, in UTF-8; batches are not served.',
  },
}

/** Answers a message with a server of the SDK that is made for this message alone. */
async function answerMessage(
  parts: EndpointParts,
  message: object,
  version: string | undefined,
  response: Answered,
) {
  const [{ Server }, { WebStandardStreamableHTTPServerTransport: Transport }] = await loadSdk()
  const info = {
    name: 'perscope',
    title: parts.config.SERVICE_NAME,
    version: '1.0.0',
    websiteUrl: parts.publicUrl,
  }
  const server = new Server(info, {
    capabilities: { tools: {} },
    instructions: INSTRUCTIONS,
    jsonSchemaValidator: NONE,
  })
  // The SDK gives a handler with a schema a copy of the request, and the copy lacks members with
  // names such as `__proto__`. The fallback handler gets the request itself.
  server.fallbackRequestHandler = async ({ method, params: { name, arguments: given } = {} }) => {
    if (method === 'tools/list') return { tools: listedTools() }
    if (method !== 'tools/call') throw protocolError(-32_601, 'There is no such method.')
    if (typeof name !== 'string' || !Object.hasOwn(TOOLS, name)) {
      const named = typeof name === 'string' ? plain(name, 64) : 'without a name'
      throw protocolError(-32_602, `There is no tool ${named}; see tools/list.`)
    }
    response.locals.tool = name
    return call(parts, TOOLS[name]!, given ?? {}, response)
  }
  const transport = new Transport({ enableJsonResponse: true })
  await server.connect(transport)
  try {
    // The transport refuses a client that does not accept both types. We only send JSON.
    const headers = new Headers({
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    })
    if (version !== undefined) headers.set('mcp-protocol-version', version)
    return await transport.handleRequest(
      new Request(parts.publicUrl, { method: 'POST', headers }),
      {
        parsedBody: message,
      },
    )
  } finally {
    await server.close()
  }
}

/**
 * The SDK requires a validator for forms, which a server can ask clients to fill in. No tool of
 * ours has a form.
 */
const NONE = {
  getValidator() {
    throw new Error('Nothing is asked of clients.')
  },
}

/** An error as JSON-RPC 2.0 defines it. */
const protocolError = (code: number, message: string) => Object.assign(new Error(message), { code })

/**
 * Calls a tool, which takes one request from the quota of the month unless the tool is free. An
 * error goes to the model, which may correct its call.
 */
async function call(parts: EndpointParts, tool: Tool, given: unknown, response: Answered) {
  try {
    if (!tool.isFree) checkQuota(response)
    const { id, plan } = accessOf(response).key
    const searches = parts.searchesOf(response)
    const asked = await withSets(searches.db, id, queryOf(given))
    if (namesIn(asked).length > 0) throw invalid('outlets', await noSuchSet(searches.db, id))
    const { structured, text } = await tool.answer(asked, async (operation, rawQuery) => {
      const content = await parts.answers[operation]({ searches, rawQuery, plan }, response)
      if ('search' in content)
        Object.assign(response.locals, { search: content.search, searchMs: content.searchMs })
      return JSON.parse(content.body(content.untagged()).toString())
    })
    if (!tool.isFree) await parts.charge(response)
    return { content: [{ type: 'text' as const, text }], structuredContent: { ...structured } }
  } catch (error) {
    return {
      isError: true,
      content: [{ type: 'text' as const, text: sentencesOf(parts.note(error, response)) }],
    }
  }
}

/** The most sets that a sentence names. */
const MOST_SETS = 20

/** No tool lists the sets of a key, so the sentence does. */
async function noSuchSet(db: Searches['db'], keyId: string): Promise<string> {
  const sets = await listSets(db, keyId)
  if (sets.length === 0) return 'This key has no sets of outlets; write domains, as nrc.nl.'
  const names = sets.slice(0, MOST_SETS).map(({ name }) => `"${plain(name, 64)}"`)
  const rest = sets.length > MOST_SETS ? ` and ${sets.length - MOST_SETS} more` : ''
  return `Write domains, as nrc.nl, or a set of outlets of this key: ${names.join(', ')}${rest}.`
}

function sentencesOf({ code, message, errors = {}, headers }: ApiError): string {
  const members = Object.entries(errors).map(
    ([name, sentences]) => `${plain(name, 64)}: ${sentences.join(' ')}`,
  )
  const wait =
    headers['Retry-After'] === undefined
      ? []
      : [`Wait ${headers['Retry-After']} seconds before you try again.`]
  return [`${code}: ${message}`, ...members, ...wait].join('\n')
}

/**
 * Refuses requests from pages of other origins, and requests to host names that are not ours. An
 * attacker can point a host name of his own to this server (DNS rebinding). His page would then
 * send requests from the browsers of its readers. IP addresses and names without a dot are allowed,
 * because an attacker can have no page there.
 */
function guard({ publicUrl, config }: EndpointParts): RequestHandler {
  const own = new URL(publicUrl)
  return (request, _response, next) => {
    // Behind a trusted proxy, this is the name under which the client asked the proxy.
    const host = (request.hostname ?? '').toLowerCase().replace(/\.$/, '')
    const isOurs =
      host === own.hostname ||
      !host.includes('.') ||
      isIP(host) !== 0 ||
      host.endsWith('.localhost')
    const origin = request.get('origin')
    const isOpen =
      origin === undefined ||
      [own.origin, ...config.CORS_ORIGINS].some(one => one === '*' || one === origin) ||
      (isLoopback(host) && isLoopback(URL.parse(origin)?.hostname ?? ''))
    next(isOurs && isOpen ? undefined : new ApiError('origin_not_allowed'))
  }
}

const isLoopback = (host: string) =>
  /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(host)

/**
 * Loaded with the first message, because most processes never need it, and it takes much memory.
 */
const loadSdk = () =>
  Promise.all([
    import('@modelcontextprotocol/sdk/server/index.js'),
    import('@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'),
  ])
