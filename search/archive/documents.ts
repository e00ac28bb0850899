import { NAME_RULES, rulesOn, stopWordsOf, WORD_RULES, wordsOf } from '../analysis/index.ts'
import { stem } from '../analysis/stems.ts'
import { foldName } from '../analysis/tokens.ts'
import type { Names } from '../cache/stored-articles.ts'
import type { SegmentSource } from '../segment/builder.ts'
import type { ArticleWords } from '../store/article-source.ts'
import { TERMS } from '../terms.ts'
import type { Language } from '../vocabulary.ts'

/**
 * Version of the documents. Raise it with every change of the documents or the fields. Then
 * `npm run reindex -- --archive` builds every index anew.
 */
export const ANALYSIS: number = rulesOn(2, WORD_RULES, NAME_RULES)

/** The shape of new indices. Existing indices keep theirs. */
export interface IndexShape {
  shards: number
  /** Copies of each shard beside the first. */
  replicas: number
}

/**
 * Words that our tokenizer has cut. The analyzer separates them at blanks alone, because no word
 * contains a blank.
 */
const WORDS = { type: 'text', analyzer: 'whitespace', norms: false }
const KEYWORD = { type: 'keyword' }
/**
 * For fields by which articles are sorted and counted. OpenSearch keeps them by document. Only
 * `outlets=` looks up values of one of them, `publisher`.
 */
const COUNTED = { index: false }
const LONG = { type: 'long' }

/**
 * A number beyond every time. An article without a date of publication has it in place of a time,
 * with the sign that puts the article last in each order. JSON holds this number exactly.
 */
export const LAST = 9_007_199_254_740_991

/**
 * Settings and fields of an index. Its documents stand in the order of most searches, the newest
 * first, so that such a search stops early. The index holds no article to show: the rows of a page
 * come from Postgres.
 */
export const indexBody = ({ shards, replicas }: IndexShape): object => ({
  settings: {
    index: {
      number_of_shards: shards,
      number_of_replicas: replicas,
      'sort.field': ['newest', 'id'],
      'sort.order': ['desc', 'desc'],
      // Only `makeSearchable` makes new documents searchable.
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
      /**
       * The time of publication, for sorting. An article without one sorts last because of a value
       * in its place: in descending order by `newest`, in ascending order by `oldest`.
       */
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

/**
 * Makes the document of an article. It has the same terms as segments have. For phrases it also has
 * the words of title and body, in order.
 */
export function documentOf(article: SegmentSource, words: ArticleWords, names: Names): object {
  const { seq, id, published, ingested, country, language, publisherNo, authorNos } = article
  const title = wordsOf(words.title)
  const body = wordsOf(words.body)
  const outlet = names.outlet(publisherNo)
  return {
    seq: Number(seq),
    id,
    country,
    publisher: publisherNo,
    author_nos: authorNos,
    ...(published === null
      ? { newest: -LAST, oldest: LAST }
      : { published, newest: published, oldest: published }),
    ...(ingested === null ? {} : { ingested }),
    terms: [...filterTermsOf(article), ...termsOf(language, title, body)],
    title: textOf(title),
    body: textOf(body),
    outlets: [outlet.name, outlet.domain].flatMap(name => (name === null ? [] : [foldName(name)])),
    authors: authorNos.map(no => foldName(names.author(no).name)),
  }
}

/**
 * The terms for filters. Outlets and authors have fields of their own, with their numbers and
 * names, so they need no terms.
 */
const filterTermsOf = ({ country, language, authorNos }: SegmentSource) => [
  TERMS.country(country),
  TERMS.language(language),
  TERMS.hasAuthor(authorNos.length > 0),
]

function termsOf(language: Language, title: string[], body: string[]): Set<string> {
  const terms = new Set<string>()
  const isStopWord = (word: string) => stopWordsOf(language).has(word)
  for (const word of title) {
    terms.add(TERMS.word(word))
    if (isStopWord(word)) continue
    const found = stem(language, word)
    terms.add(TERMS.stem(language, found)).add(TERMS.titleStem(language, found))
  }
  for (const word of body) {
    const term = TERMS.word(word)
    if (!terms.has(term) && !isStopWord(word)) terms.add(TERMS.stem(language, stem(language, word)))
    terms.add(term)
  }
  return terms
}

const textOf = (words: string[]) => words.map(TERMS.word).join(' ')
