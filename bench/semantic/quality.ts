import type { Language } from '../../shared/articles/article.ts'
import { asQuery, type Client, idOf, inParallel } from './client.ts'
import { type Corpus, domainOf } from './corpora.ts'

const CLIENTS = 2

/** How well the questions of one language find their articles in another. */
export interface Pair {
  asked: Language
  found: Language
  recall1: number
  recall10: number
  /** Mean reciprocal rank among the first 100. */
  mrr: number
}

type Mode = 'semantic' | 'keyword'

/**
 * Sends every query of a corpus for each language of its articles, and finds the rank of the
 * answer. An article whose own headline is the query is found in every way, and does not count.
 */
export async function measurePairs(client: Client, corpus: Corpus, mode: Mode): Promise<Pair[]> {
  const ranks = new Map<string, number[]>()
  const tasks = corpus.questions.flatMap(question => corpus.languages.map(found => ({ question, found })))
  const headlines = new Set(corpus.articles.map(({ title }) => title))
  await inParallel(tasks, CLIENTS, async ({ question, found }) => {
    if (question.language === found && headlines.has(question.text)) return
    const hits = await client.articles({
      ...search(mode, question.text),
      outlet: domainOf(corpus.name, found),
      per_page: '100',
    })
    const rank = hits.findIndex(({ id }) => id === idOf(corpus.name, question.item, found)) + 1
    const pair = `${question.language} ${found}`
    ranks.set(pair, [...(ranks.get(pair) ?? []), rank])
  })
  return [...ranks].map(([pair, all]) => {
    const [asked, found] = pair.split(' ') as [Language, Language]
    const share = (limit: number) => all.filter(rank => rank > 0 && rank <= limit).length / all.length
    const mrr = all.reduce((sum, rank) => sum + (rank > 0 ? 1 / rank : 0), 0) / all.length
    return { asked, found, recall1: share(1), recall10: share(10), mrr }
  })
}

/**
 * By the language of the query: the share of a document's versions, in all languages, among the
 * best ten.
 */
export async function measureVersions(client: Client, corpus: Corpus, mode: Mode): Promise<Map<Language, number>> {
  const shares = new Map<Language, number[]>()
  await inParallel(corpus.questions, CLIENTS, async ({ item, language, text }) => {
    const hits = await client.articles({ ...search(mode, text), per_page: '10' })
    const versions = new Set(corpus.languages.map(version => idOf(corpus.name, item, version)))
    const share = hits.filter(({ id }) => versions.has(id)).length / corpus.languages.length
    shares.set(language, [...(shares.get(language) ?? []), share])
  })
  return new Map(
    [...shares].map(([language, all]) => [language, all.reduce((sum, share) => sum + share, 0) / all.length]),
  )
}

/**
 * Keyword search ranks by words only among articles equal in the sort field: all of the bench's
 * are.
 */
function search(mode: Mode, text: string): Record<string, string> {
  const q = asQuery(text)
  return mode === 'semantic' ? { search: 'semantic', q } : { search: 'keyword', search_in: 'title_body', q }
}
