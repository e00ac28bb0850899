import type { Model } from './models.ts'

export const APIS = ['openai', 'tei', 'hf'] as const

export type Api = (typeof APIS)[number]

/** Where vectors come from. */
export interface Source {
  api: Api
  /** Empty: Inference Providers with `hf`, nowhere otherwise. */
  url: string
  model: Model
  /** Bearer token; empty: none. */
  token: string
}

/**
 * Texts to vectors, in one request. `kind` tells models apart that see a search term and a text
 * differently.
 */
export type Ask = (texts: string[], kind: 'query' | 'passage', signal: AbortSignal) => Promise<number[][]>
