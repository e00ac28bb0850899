import { biasOf } from './bias.ts'

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
 * Two articles with at least this cosine are likely to be about the same event. `of` has the cosine
 * by pair of languages, in alphabetical order, where one of its own was right more often. `pooled`
 * is for all other pairs of languages.
 */
export interface SameEvent {
  pooled: number
  of: Partial<Record<string, number>>
}

type Row = [dimensions: number, queryPrefix: string, passagePrefix: string, maxTokens: number]

/** The conventions that the models' own cards state. */
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
  'google/embeddinggemma-300m': [
    768,
    'task: search result | query: ',
    'title: none | text: ',
    2048,
  ],
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

const NEAR: Partial<Record<string, Near>> = {
  'intfloat/multilingual-e5-small': { few: 0.38, many: 0.45 },
}
const FEW = 4

/** From which relevance on an article is likely to be about a query; null: not measured. */
export function nearOf(near: Near | null, query: string): number | null {
  const words = query.match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
  return near && (words.length > FEW ? near.many : near.few)
}

/** `npm run bench -- semantic --related` measures these numbers. */
const SAME: Partial<Record<string, SameEvent>> = {
  'intfloat/multilingual-e5-small': { pooled: 0.58, of: {} },
}

const CHARACTERS_PER_TOKEN = 3

/** The conventions of a model. A model that is not in the table gets no prefixes. */
export function modelNamed(name: string): Model {
  const row = Object.entries(MODELS).find(([known]) => known.toLowerCase() === name.toLowerCase())
  if (!row) {
    const unknown = {
      dimensions: null,
      queryPrefix: '',
      passagePrefix: '',
      maxCharacters: 1_500,
      near: null,
    }
    return { name, ...unknown, same: null, bias: [] }
  }
  const [known, [dimensions, queryPrefix, passagePrefix, maxTokens]] = row
  const maxCharacters = maxTokens * CHARACTERS_PER_TOKEN
  const measured = { near: NEAR[known] ?? null, same: SAME[known] ?? null, bias: biasOf(known) }
  return { name: known, dimensions, queryPrefix, passagePrefix, maxCharacters, ...measured }
}
