import { type Ask, EmbeddingFailure, failureOf, type Source } from './source.ts'

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
