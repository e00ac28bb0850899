import type { Model } from './models.ts'

export const APIS = ['openai', 'tei', 'hf'] as const

export type Api = (typeof APIS)[number]

/** A source of vectors: an API and its address. */
export interface Source {
  api: Api
  /** Empty: Inference Providers with `hf`, nowhere otherwise. */
  url: string
  model: Model
  /** Bearer token; empty: none. */
  token: string
}

/**
 * Makes vectors of texts in one request. Some models embed a search term and a text (`kind`)
 * differently.
 */
export type Ask = (texts: string[], kind: 'query' | 'passage', signal: AbortSignal) => Promise<number[][]>
