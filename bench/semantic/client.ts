import type { Language } from '../../shared/articles/article.ts'

/** An article of an answer, as the bench needs it. */
export interface Hit {
  id: string
}

export interface Client {
  /** One page. @throws when the answer is not 200 */
  articles(parameters: Record<string, string>): Promise<Hit[]>
}

export function createClient(base: string, key: string): Client {
  return {
    async articles(parameters) {
      const response = await fetch(`${base}/v1/articles?${new URLSearchParams(parameters)}`, {
        headers: { authorization: `Bearer ${key}` },
      })
      const body = await response.text()
      if (!response.ok) throw new Error(`The API answers ${response.status}: ${body}`)
      const page: { articles: Hit[] } = JSON.parse(body)
      return page.articles
    },
  }
}

/** Ids say what an article is, for the measurement alone. */
export const idOf = (corpus: string, item: string, language: Language) =>
  `${corpus}.${Buffer.from(item).toString('hex').slice(-60)}.${language}`

/** What clients can send: 191 code points. */
export const asQuery = (text: string) => [...text.normalize('NFC').trim()].slice(0, 191).join('').trim()

/** Runs `work` over a list, some at a time. */
export async function inParallel<T>(list: T[], clients: number, work: (one: T) => Promise<void>): Promise<void> {
  const rest = list.values()
  await Promise.all(
    Array.from({ length: clients }, async () => {
      for (const one of rest) await work(one)
    }),
  )
}
