import type { Answer, Asking } from '../load.ts'
import { createRandom, type Random } from '../search/generator.ts'

/** Kinds of requests, and their share of all, percent. */
const SHARES = { search: 60, poll: 25, feed: 10, semantic: 5 } as const

export type Kind = keyof typeof SHARES

export const KINDS = Object.keys(SHARES) as Kind[]

/** Readers that poll, each with a place of its own in the order of ingestion. */
const READERS = 200
/** Of the questions, so many are asked by many; the others by one. */
const POPULAR = 50

interface NextRequest extends Asking {
  kind: Kind
  /** Told of an answer. */
  read(answer: Answer): void
}

interface Questions {
  /** First pages of lists and searches by words. */
  searches: string[]
  /** Words that questions are made of. */
  words: string[]
  /** ISO 8601; polls begin here. */
  newest: string
  /** Of the choice of requests. With the same one, every question would have been asked before. */
  seed: number
}

/** Requests of all kinds at random. */
export function createRequests({ searches, words, newest, seed }: Questions): () => NextRequest {
  const random = createRandom(seed)
  const readers = Array.from({ length: READERS }, () => ({ after: newest, etag: '' }))
  const question = (from: Random) => Array.from({ length: 6 }, () => from.one(words)).join(' ')
  // What many ask stays the same, whatever the seed.
  const always = createRandom(5)
  const popular = Array.from({ length: POPULAR }, () => question(always))
  const hundred = KINDS.flatMap(kind => Array.from({ length: SHARES[kind] }, () => kind))
  const poll = (): NextRequest => {
    const reader = random.one(readers)
    const asked = { sort: 'ingested_at', order: 'asc', ingested_after: reader.after, per_page: '100' }
    return {
      kind: 'poll',
      path: `/v1/articles?${new URLSearchParams(asked)}`,
      headers: reader.etag === '' ? {} : { 'if-none-match': reader.etag },
      read({ status, etag, body }) {
        if (status === 304) return
        const last: string | undefined = JSON.parse(body.toString()).articles.at(-1)?.ingested_at
        reader.etag = last === undefined ? etag : ''
        reader.after = last ?? reader.after
      },
    }
  }
  const pathOf: Record<Exclude<Kind, 'poll'>, () => string> = {
    search: () => random.one(searches),
    feed: () => random.one(searches).replace('/v1/articles?', '/v1/articles.rss?'),
    semantic: () => {
      const q = random.chance(0.5) ? random.one(popular) : question(random)
      return `/v1/articles?${new URLSearchParams({ search: 'semantic', q })}`
    },
  }
  return () => {
    const kind = random.one(hundred)
    return kind === 'poll' ? poll() : { kind, path: pathOf[kind](), read() {} }
  }
}
