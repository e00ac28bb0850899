import { hash } from 'node:crypto'
import type { ArticleForm, KeptArticle, Stated } from '#search/index'
import type { ArticleObject } from '#services/api/contract/resources'
import { articleObject } from '#shared/articles/article'

export { articleObject } from '#shared/articles/article'

/** Bytes that are made once and joined into many answers. */
export interface Piece {
  readonly bytes: Buffer
  /** The hash of the bytes. ETags are made from it, so it is equal in every process. */
  readonly digest: string
}

/** An article as the API keeps it: the bytes that it sends. */
export interface ShownArticle extends KeptArticle {
  /**
   * What its outlet says of it, as further fields of the object, for operations beside the
   * contract. Empty: it says nothing.
   */
  readonly said: string
  /** ms since 1970: of the publication, or else of the ingestion. */
  readonly time: number | null
  readonly pieces: {
    /** The article object of the contract, without its relevance. */
    readonly json: Piece
    /** The item of a feed, without its relevance; null: no feed has shown the article yet. */
    item: Piece | null
  }
}

/** The article object of the contract, from its bytes: the API keeps no rows of articles. */
export const articleIn = ({ bytes }: Piece): ArticleObject => JSON.parse(bytes.toString())

/** An article on a page of a search by meaning has a relevance. */
export type Listed = ShownArticle & { relevance?: number }

export const SHOWN_ARTICLES: ArticleForm<ShownArticle> = {
  make: row => ({
    seq: row.seq,
    id: row.id,
    said: saidOf(row),
    time: (row.publishedAt ?? row.ingestedAt)?.getTime() ?? null,
    pieces: { json: pieceOf(JSON.stringify(articleObject(row))), item: null },
  }),
  bytesOf: ({ said, pieces: { json, item } }) =>
    FIELD_BYTES + 2 * said.length + sizeOf(json) + (item === null ? 0 : sizeOf(item)),
}

/** Fields of which the outlet says nothing are left out. */
const saidOf = ({ section, kind, access }: Stated): string =>
  Object.entries({ section, kind, access })
    .map(([name, value]) => (value === null ? '' : `,"${name}":${JSON.stringify(value)}`))
    .join('')

/** Bytes of the object with its id, number and time. */
const FIELD_BYTES = 300
/** Bytes that a piece takes beside its content: the buffer object and the digest. */
const PIECE_BYTES = 500

const sizeOf = ({ bytes }: Piece): number => PIECE_BYTES + bytes.length

export function pieceOf(text: string): Piece {
  // The piece gets memory of its own, because a slice of Node's pool keeps the whole pool in
  // memory.
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text))
  bytes.write(text)
  return { bytes, digest: hash('sha256', bytes, 'base64url').slice(0, 22) }
}

/** Identifies the articles of a page, their order and their relevance. */
export function digestOf(articles: readonly Listed[], piece: (article: Listed) => Piece): string {
  return articles.map(article => `${piece(article).digest} ${article.relevance ?? ''}`).join('\n')
}
