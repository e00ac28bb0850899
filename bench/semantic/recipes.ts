import type { Language } from '../../shared/articles/article.ts'
import type { Config } from '../../shared/config/config.ts'
import { without } from '../../shared/embeddings/bias/removal.ts'
import { openEmbeddings } from '../../shared/embeddings/embeddings.ts'
import { sourceOf } from '../../shared/embeddings/endpoint.ts'
import { articleVector, passagesOf } from '../../shared/embeddings/recipe.ts'
import { asQuery, inParallel } from './client.ts'
import type { Corpus, CorpusArticle } from './corpora.ts'

/** Texts of a request, as the embedder sends them. */
const TEXTS = 4
const BEST = 10
const PATIENCE = 120_000

/** The texts of an article that are embedded, and the use of their vectors. */
interface Recipe {
  name: string
  texts(article: CorpusArticle): string[]
  /**
   * One vector an article, the mean of its texts' vectors; or one a text, of which the nearest
   * counts.
   */
  vectors: 'mean' | 'each'
  /** True: the bias of each language is subtracted from all vectors. */
  bias: boolean
}

const bodyOf = ({ body }: CorpusArticle, length: number) => {
  const beginning = (body ?? '').trim().slice(0, length)
  return beginning === '' ? [] : [beginning]
}
const apart = (length: number) => (article: CorpusArticle) => [article.title, ...bodyOf(article, length)]
const together = (length: number) => (article: CorpusArticle) => [
  `${article.title}. ${article.body ?? ''}`.slice(0, length),
]

const RECIPES: Recipe[] = [
  { name: 'own', texts: article => passagesOf(article).map(({ text }) => text), vectors: 'mean', bias: true },
  { name: 'apart_500_raw', texts: apart(500), vectors: 'mean', bias: false },
  { name: 'apart_250', texts: apart(250), vectors: 'mean', bias: true },
  { name: 'apart_1000', texts: apart(1_000), vectors: 'mean', bias: true },
  { name: 'two_vectors', texts: apart(500), vectors: 'each', bias: true },
  { name: 'together_500_raw', texts: together(500), vectors: 'mean', bias: false },
  { name: 'together_500', texts: together(500), vectors: 'mean', bias: true },
  { name: 'together_1500', texts: together(1_500), vectors: 'mean', bias: true },
  { name: 'headline', texts: article => [article.title], vectors: 'mean', bias: true },
]

/**
 * Compares other recipes for embedding an article: the share of a document's versions among the
 * best ten by exact cosine, by the language of the query, and the articles that a second embeds.
 *
 * @param config names the model's server
 */
export async function measureRecipes(
  corpus: Corpus,
  config: Config,
  say: (line: string) => void,
): Promise<Record<string, number>> {
  const source = sourceOf(config)
  const embeddings = openEmbeddings({ ...source, model: { ...source.model, bias: [] } }, { passageTimeout: PATIENCE })
  const cut = (vector: number[], bias: boolean) => unit(bias ? without(source.model.bias, vector) : vector)

  const asked = new Map<string, number[]>()
  for (const { text } of corpus.questions) {
    asked.set(text, await embeddings.embedQuery(asQuery(text), AbortSignal.timeout(PATIENCE)))
  }
  const figures: Record<string, number> = {}
  say('\nWhat could be embedded: share of a document’s versions among the best ten; articles/s')
  for (const { name, texts, vectors, bias } of RECIPES) {
    const all = corpus.articles.map(texts)
    const { known, seconds } = await embedAll([...new Set(all.flat())])
    const articles = all.map(own => {
      const each = own.map(text => cut(known.get(text)!, bias))
      return vectors === 'each'
        ? each
        : [
            articleVector(
              own.map(text => ({ text, weight: 1 })),
              each,
            ),
          ]
    })
    const questions = corpus.questions.map(({ item, language, text }) => ({
      item,
      language,
      vector: cut(asked.get(text)!, bias),
    }))
    const shares = sharesOf(corpus, articles, questions)
    for (const [language, share] of shares) figures[`${name}_versions_at_10_${language}`] = rounded(share, 3)
    figures[`${name}_articles_per_second`] = rounded(all.length / seconds, 1)
    const columns = [...shares].map(([language, share]) => `${language} ${share.toFixed(3)}  `).join('')
    say(`${name.padEnd(18)}${columns}${(all.length / seconds).toFixed(1).padStart(6)}`)
  }
  return figures

  async function embedAll(texts: string[]): Promise<{ known: Map<string, number[]>; seconds: number }> {
    const known = new Map<string, number[]>()
    const batches = Array.from({ length: Math.ceil(texts.length / TEXTS) }, (_, at) =>
      texts.slice(at * TEXTS, (at + 1) * TEXTS),
    )
    const start = performance.now()
    await inParallel(batches, 1, async batch => {
      const made = await embeddings.embedPassages(batch, AbortSignal.timeout(PATIENCE))
      batch.forEach((text, at) => void known.set(text, made[at]!))
    })
    return { known, seconds: (performance.now() - start) / 1_000 }
  }
}

interface Asked {
  item: string
  language: Language
  vector: number[]
}

function sharesOf(corpus: Corpus, articles: number[][][], questions: Asked[]): Map<Language, number> {
  const shares = new Map<Language, number[]>()
  for (const { item, language, vector } of questions) {
    const best = articles
      .map((vectors, at) => ({ at, score: Math.max(...vectors.map(one => dot(one, vector))) }))
      .sort((a, b) => b.score - a.score)
      .slice(0, BEST)
    const versions = best.filter(({ at }) => corpus.articles[at]!.item === item).length
    shares.set(language, [...(shares.get(language) ?? []), versions / corpus.languages.length])
  }
  return new Map([...shares].map(([language, all]) => [language, all.reduce((sum, one) => sum + one, 0) / all.length]))
}

const dot = (a: number[], b: number[]) => a.reduce((sum, number, at) => sum + number * b[at]!, 0)

function unit(vector: number[]): number[] {
  const length = Math.hypot(...vector)
  return vector.map(number => number / length)
}

const rounded = (number: number, digits: number) => Number(number.toFixed(digits))
