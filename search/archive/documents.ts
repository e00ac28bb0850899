import type { Language } from '../../shared/articles/article.ts'
import { foldName } from '../analysis/folding.ts'
import { stem } from '../analysis/stems.ts'
import { STOP_WORDS } from '../analysis/stop-words.ts'
import type { Names } from '../cache/names.ts'
import type { SegmentSource } from '../segment/builder.ts'
import type { ArticleWords } from '../store/article-source.ts'
import { TERMS } from '../terms.ts'
import { LAST } from './mapping.ts'

/** Stems that are remembered for each language. */
const MOST_STEMS = 200_000

/**
 * Makes the documents of articles: the same terms as segments have, and the words of title and body
 * in their order, for phrases.
 */
export function createDocuments(): (article: SegmentSource, words: ArticleWords, names: Names) => object {
  const stemmers = new Map<Language, (word: string) => string | null>()
  const stemmerOf = (language: Language) => {
    let stemmer = stemmers.get(language)
    if (stemmer === undefined) {
      stemmer = createStemmer(language)
      stemmers.set(language, stemmer)
    }
    return stemmer
  }
  return (article, words, names) => {
    const { seq, id, published, ingested, country, language, publisherNo, authorNos } = article
    const title = listed(words.title)
    const body = listed(words.body)
    const outlet = names.outlet(publisherNo)
    return {
      ...{ seq: Number(seq), id, country, publisher: publisherNo, author_nos: authorNos },
      ...(published === null ? { newest: -LAST, oldest: LAST } : { published, newest: published, oldest: published }),
      ...(ingested === null ? {} : { ingested }),
      terms: [...filterTermsOf(article), ...termsOf(language, title, body, stemmerOf(language))],
      title: textOf(title),
      body: textOf(body),
      outlets: [outlet.name, outlet.domain].flatMap(name => (name === null ? [] : [foldName(name)])),
      authors: authorNos.map(no => foldName(names.author(no).name)),
    }
  }
}

/** Outlets and authors are looked up by parts of their names, so their numbers need no terms. */
const filterTermsOf = ({ country, language, authorNos }: SegmentSource) => [
  TERMS.country(country),
  TERMS.language(language),
  TERMS.hasAuthor(authorNos.length > 0),
]

function termsOf(
  language: Language,
  title: string[],
  body: string[],
  stemOf: (word: string) => string | null,
): Set<string> {
  const terms = new Set<string>()
  for (const word of title) {
    terms.add(TERMS.word(word))
    const found = stemOf(word)
    if (found !== null) terms.add(TERMS.stem(language, found)).add(TERMS.titleStem(language, found))
  }
  for (const word of body) {
    const term = TERMS.word(word)
    if (terms.has(term)) continue
    terms.add(term)
    const found = stemOf(word)
    if (found !== null) terms.add(TERMS.stem(language, found))
  }
  return terms
}

/** The stem of a word; null: a stop word. */
function createStemmer(language: Language): (word: string) => string | null {
  const known = new Map<string, string | null>()
  return word => {
    const found = known.get(word)
    if (found !== undefined) return found
    const made = STOP_WORDS[language].has(word) ? null : stem(language, word)
    if (known.size >= MOST_STEMS) known.clear()
    known.set(word, made)
    return made
  }
}

const textOf = (words: string[]) => words.map(TERMS.word).join(' ')

/** The words of a list as `wordList` writes it. */
const listed = (list: string): string[] => (list.length < 2 ? [] : list.slice(1, -1).split('\n'))
