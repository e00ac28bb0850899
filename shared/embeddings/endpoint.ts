import type { Config } from '../config/config.ts'
import { EmbeddingFailure } from './embedding-failure.ts'
import { askHuggingFace } from './huggingface.ts'
import { modelNamed } from './models.ts'
import { askOpenAi } from './openai.ts'
import { APIS, type Ask, type Source } from './source.ts'

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

export function askerOf(source: Source): Ask {
  if (source.url === '' && !(source.api === 'hf' && source.token !== '')) {
    return async () => {
      throw new EmbeddingFailure('unavailable', 'There is no embedding endpoint; set EMBEDDINGS_URL (or HF_TOKEN).')
    }
  }
  return source.api === 'openai' ? askOpenAi(source) : askHuggingFace(source)
}
