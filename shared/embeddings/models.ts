import { biasOf } from './bias.ts'
import models from './models.json' with { type: 'json' }

/** The conventions of a model: how it takes texts, and which numbers were measured for it. */
export interface Model {
  /** The name that the endpoint uses: the model's name at Hugging Face if it has one. */
  name: string
  /** Dimensions of a vector; null: unknown until the first answer. */
  dimensions: number | null
  /**
   * The texts with which the model was trained as prefixes: `queryPrefix` before a search term,
   * `passagePrefix` before a passage.
   */
  queryPrefix: string
  passagePrefix: string
  /**
   * The longest text that the model reads whole, in characters. A token has about 3 characters in
   * the worst of our languages.
   */
  maxCharacters: number
  /** From which relevance on an article is likely to be about the query; null: not measured. */
  near: Near | null
  /** How similar the vectors of articles on the same event are; null: not measured. */
  same: SameEvent | null
  /** Basis of the bias that is removed from every vector (`bias.ts`); empty: no bias is removed. */
  bias: Float64Array[]
}

/**
 * Most queries that have an answer in the index find it above this relevance, and few others find
 * anything above it (docs/search-by-meaning.md). A few words lie further from all articles than a
 * sentence.
 */
export interface Near {
  /** Of queries of at most `FEW` words. */
  few: number
  many: number
}

/**
 * Two articles with at least this cosine are likely to be about the same event. Articles in two
 * languages on the same event lie further apart than those in one.
 */
export interface SameEvent {
  within: number
  across: number
}

/**
 * What the models' own cards state, and what was measured for some: `near` by
 * docs/search-by-meaning.md, `same` by `npm run bench -- semantic --related`.
 */
const MODELS: Readonly<
  Record<
    string,
    Pick<Model, 'dimensions' | 'queryPrefix' | 'passagePrefix'> &
      Partial<Pick<Model, 'near' | 'same'>> & { maxTokens: number }
  >
> = models

const FEW = 4

/** From which relevance on an article is likely to be about a query; null: not measured. */
export function nearOf(near: Near | null, query: string): number | null {
  const words = query.match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
  return near && (words.length > FEW ? near.many : near.few)
}

const CHARACTERS_PER_TOKEN = 3

/** The conventions of a model. A model that is not in the table gets no prefixes. */
export function modelNamed(name: string): Model {
  const known = Object.keys(MODELS).find(own => own.toLowerCase() === name.toLowerCase()) ?? name
  const { maxTokens = 500, ...stated } = MODELS[known] ?? {}
  return {
    name: known,
    dimensions: null,
    queryPrefix: '',
    passagePrefix: '',
    near: null,
    same: null,
    ...stated,
    maxCharacters: maxTokens * CHARACTERS_PER_TOKEN,
    bias: biasOf(known),
  }
}
