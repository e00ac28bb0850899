import { Agent, request } from 'undici'
import type { Language } from '../../shared/articles/article.ts'

/** An article of an answer, as the bench needs it. */
export interface Hit {
  id: string
}

export interface Client {
  /** One page. @throws when the answer is not 200 */
  articles(parameters: Record<string, string>): Promise<Hit[]>
}

/**
 * Uses little processor time, because client and API share the cores. `fetch` would use as much as
 * a part of the API.
 */
export function createClient(base: string, key: string): Client {
  const dispatcher = new Agent()
  return {
    async articles(parameters) {
      const { statusCode, body } = await request(`${base}/v1/articles?${new URLSearchParams(parameters)}`, {
        headers: { authorization: `Bearer ${key}` },
        dispatcher,
      })
      const text = await body.text()
      if (statusCode !== 200) throw new Error(`The API answers ${statusCode}: ${text}`)
      const page: { articles: Hit[] } = JSON.parse(text)
      return page.articles
    },
  }
}

/** Ids name the item and the language of an article, only for the measurement. */
export const idOf = (corpus: string, item: string, language: Language) =>
  `${corpus}.${Buffer.from(item).toString('hex').slice(-60)}.${language}`

/** The longest query that clients can send: 191 code points. */
export const asQuery = (text: string) => [...text.normalize('NFC').trim()].slice(0, 191).join('').trim()

/** Runs `work` over a list, with limited concurrency. */
export async function inParallel<T>(list: T[], clients: number, work: (one: T) => Promise<void>): Promise<void> {
  const rest = list.values()
  await Promise.all(
    Array.from({ length: clients }, async () => {
      for (const one of rest) await work(one)
    }),
  )
}
