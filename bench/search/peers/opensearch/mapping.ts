/** Words as Perscope has cut them: blanks alone separate them. */
const WORDS = { type: 'text', analyzer: 'whitespace', norms: false }
const KEYS = { ...WORDS, index_options: 'docs' }
const NUMBER = { type: 'integer' }
const KEYWORD = { type: 'keyword' }

/**
 * Settings and fields of the index. One shard fits this machine. What a search returns of an
 * article is what the contract shows; the words are not stored beside it.
 */
export const INDEX = {
  settings: {
    index: {
      number_of_shards: 1,
      number_of_replicas: 0,
      sort: { field: 'place', order: 'desc' },
      // While it is built. Afterwards as usual.
      refresh_interval: '-1',
      translog: { durability: 'async' },
    },
  },
  mappings: {
    dynamic: 'strict',
    _source: { includes: ['article'] },
    properties: {
      ...{ place: NUMBER, rise: NUMBER, turn: NUMBER },
      ...{ title: WORDS, body: WORDS, title_keys: KEYS, keys: KEYS },
      ...{ country: KEYWORD, language: KEYWORD, has_author: { type: 'boolean' } },
      // Outlets are few, so their names are looked through; authors are half as many as articles.
      ...{ outlet_names: KEYWORD, author_names: { type: 'wildcard' } },
      article: { type: 'object', enabled: false },
    },
  },
}
