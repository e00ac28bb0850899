/**
 * Version of the documents. Raise it when `documents.ts` or the fields change: `npm run reindex --
 * --archive` then builds every index anew.
 */
export const ANALYSIS = 1

/** How indices are made; those that are there stay as they are. */
export interface IndexShape {
  shards: number
  /** Copies of each shard beside the first. */
  replicas: number
}

/** Words as we have cut them: blanks alone separate them, and no word contains one. */
const WORDS = { type: 'text', analyzer: 'whitespace', norms: false }
const KEYWORD = { type: 'keyword' }
/** Sorted and counted by, never looked up. */
const COUNTED = { index: false }
const LONG = { type: 'long' }

/**
 * A long that sorts after every time: articles without a date of publication come last in either
 * order. JSON holds it exactly.
 */
export const LAST = 9_007_199_254_740_991

/**
 * Settings and fields of an index. Its documents stand in the order of the most frequent list, so
 * that such a search stops early. They hold no article: a page's rows are read from Postgres.
 */
export const indexBody = ({ shards, replicas }: IndexShape) => ({
  settings: {
    index: {
      number_of_shards: shards,
      number_of_replicas: replicas,
      'sort.field': ['newest', 'id'],
      'sort.order': ['desc', 'desc'],
      // What is searchable is decided by the one who fills it.
      refresh_interval: '-1',
    },
  },
  mappings: {
    dynamic: 'strict',
    _source: { enabled: false },
    properties: {
      seq: LONG,
      id: { ...KEYWORD, ...COUNTED },
      published: LONG,
      ingested: LONG,
      /** `published`, or one that comes last: in descending order, and in ascending order. */
      newest: LONG,
      oldest: LONG,
      /** The terms of the index (`search/terms.ts`). */
      terms: { ...KEYWORD, doc_values: false },
      title: WORDS,
      body: WORDS,
      outlets: { type: 'wildcard' },
      authors: { type: 'wildcard' },
      country: { ...KEYWORD, ...COUNTED },
      publisher: { type: 'integer', ...COUNTED },
      author_nos: { type: 'integer', ...COUNTED },
    },
  },
})
