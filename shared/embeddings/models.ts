import { biasOf } from './bias.ts'

/** The conventions of a model. */
export interface Model {
  /** Its name for the endpoint: Hugging Face's name if it has one. */
  name: string
  /** Dimensions of a vector; null: not known before the first answer. */
  dimensions: number | null
  /** The prefixes with which the model was trained, before a search term and before a text. */
  queryPrefix: string
  passagePrefix: string
  /**
   * Longest text that the model reads whole, in characters (about 3 a token, the worst of our
   * languages).
   */
  maxCharacters: number
  /**
   * The relevance from which an article is likely about what is asked; null: not measured. Most
   * questions that have an answer in the index find it above this relevance. Few of the other
   * questions find anything above it (docs/search-by-meaning.md).
   */
  near: number | null
  /** How close articles on the same event are; null: not measured. */
  same: SameEvent | null
  /** Basis of the bias that is removed from every vector (`bias.ts`); empty: none. */
  bias: Float64Array[]
}

/**
 * The cosines from which two articles are likely about the same event. `of` has them by pair of
 * languages, in alphabetical order. `pooled` is for pairs of languages with less than 50 judged
 * pairs of articles.
 */
export interface SameEvent {
  pooled: number
  of: Partial<Record<string, number>>
}

type Row = [dimensions: number, queryPrefix: string, passagePrefix: string, maxTokens: number]

/** Conventions as the models' own cards state them. */
const MODELS: Record<string, Row> = {
  'intfloat/multilingual-e5-small': [384, 'query: ', 'passage: ', 512],
  'intfloat/multilingual-e5-base': [768, 'query: ', 'passage: ', 512],
  'intfloat/multilingual-e5-large': [1024, 'query: ', 'passage: ', 512],
  'intfloat/multilingual-e5-large-instruct': [
    1024,
    'Instruct: Given a search query, retrieve relevant news articles\nQuery: ',
    '',
    512,
  ],
  'BAAI/bge-m3': [1024, '', '', 8192],
  'Alibaba-NLP/gte-multilingual-base': [768, '', '', 8192],
  'Snowflake/snowflake-arctic-embed-m-v2.0': [768, 'query: ', '', 8192],
  'Snowflake/snowflake-arctic-embed-l-v2.0': [1024, 'query: ', '', 8192],
  'nomic-ai/nomic-embed-text-v2-moe': [768, 'search_query: ', 'search_document: ', 512],
  'google/embeddinggemma-300m': [768, 'task: search result | query: ', 'title: none | text: ', 2048],
  'Qwen/Qwen3-Embedding-0.6B': [
    1024,
    'Instruct: Given a search query, retrieve relevant news articles\nQuery:',
    '',
    8192,
  ],
  'sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2': [384, '', '', 128],
  'sentence-transformers/paraphrase-multilingual-mpnet-base-v2': [768, '', '', 128],
  'sentence-transformers/LaBSE': [768, '', '', 256],
  'text-embedding-3-small': [1536, '', '', 8191],
  'text-embedding-3-large': [3072, '', '', 8191],
}

const NEAR: Partial<Record<string, number>> = { 'intfloat/multilingual-e5-small': 0.45 }

/** Set by `npm run bench -- semantic --related`. */
const SAME: Partial<Record<string, SameEvent>> = {
  'intfloat/multilingual-e5-small': { pooled: 0.58, of: { 'de-de': 0.55, 'en-en': 0.57 } },
}

const CHARACTERS_PER_TOKEN = 3

/** The conventions of a model. A model that the table does not know gets no prefixes. */
export function modelNamed(name: string): Model {
  const row = Object.entries(MODELS).find(([known]) => known.toLowerCase() === name.toLowerCase())
  if (!row) {
    const unknown = { dimensions: null, queryPrefix: '', passagePrefix: '', maxCharacters: 1_500, near: null }
    return { name, ...unknown, same: null, bias: [] }
  }
  const [known, [dimensions, queryPrefix, passagePrefix, maxTokens]] = row
  const maxCharacters = maxTokens * CHARACTERS_PER_TOKEN
  const measured = { near: NEAR[known] ?? null, same: SAME[known] ?? null, bias: biasOf(known) }
  return { name: known, dimensions, queryPrefix, passagePrefix, maxCharacters, ...measured }
}
