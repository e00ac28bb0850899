import type { ArticleRow } from '../query/article-query.ts'
import type { ArticleSource, Author, StoredArticle } from '../store/article-source.ts'
import type { ArticleOutlet } from '../vocabulary.ts'
import { type Cache, type CacheSizes, type CacheStats, createCache, together } from './cache.ts'

export interface StoredArticles<A extends KeptArticle = KeptArticle> {
  /**
   * The articles in the given order. Numbers that belong to no article are left out.
   *
   * @param wordsVersion the snippets have this version of the words or a newer one
   */
  read(seqs: bigint[], wordsVersion: bigint): Promise<A[]>
  /** Keeps articles that were read for another purpose. */
  keep(stored: StoredArticle[], wordsVersion: bigint): Promise<void>
  /** Counts the bytes of kept articles again, because these articles have grown. */
  recount(seqs: bigint[]): void
  names(publisherNos: number[], authorNos: number[]): Promise<Names>
  /** The id of an article that is kept; null: the article is not kept. */
  knownId(seq: bigint): string | null
  stats(): { articles: CacheStats; names: CacheStats }
}

/**
 * Articles as they are shown (Lucene: stored fields), kept in memory. Visible articles hardly
 * change (decision 24), and lists and polls ask for the newest articles again and again. When an
 * operator blanks snippets (decision 41), the version of the words rises. The cache then drops all
 * articles.
 */
export function createStoredArticles<A extends KeptArticle>(
  source: ArticleSource,
  sizes: CacheSizes,
  form: ArticleForm<A>,
): StoredArticles<A> {
  // The key is a number, because a `Map` finds it faster than a bigint.
  let cache = createCache<number, A>(sizes.articles)
  let version = 0n
  const names = createNameCache(source, sizes.names)

  const nameAndKeep = async (stored: StoredArticle[], wordsVersion: bigint): Promise<A[]> => {
    const articles = (await named(stored)).map(form.make)
    if (wordsVersion > version) {
      version = wordsVersion
      cache = createCache<number, A>(sizes.articles)
    }
    if (wordsVersion < version) return articles
    for (const article of articles) cache.set(Number(article.seq), article, form.bytesOf(article))
    return articles
  }
  const named = async (stored: StoredArticle[]): Promise<ArticleRow[]> => {
    const known = await names.read(
      stored.map(article => article.publisherNo),
      stored.flatMap(article => article.authorNos),
    )
    return stored.map(({ publisherNo, authorNos, ...article }) => ({
      ...article,
      authors: authorNos.flatMap(no => known.author(no) ?? []), // gone: taken out meanwhile
      outlet: known.outlet(publisherNo),
    }))
  }
  return {
    async read(seqs, wordsVersion) {
      const found = seqs.map(seq => (wordsVersion > version ? undefined : cache.get(Number(seq))))
      const missing = seqs.filter((_, index) => found[index] === undefined)
      if (missing.length > 0) {
        const articles = await nameAndKeep(
          await source.readStored(missing, wordsVersion),
          wordsVersion,
        )
        const bySeq = new Map(articles.map(article => [article.seq, article]))
        seqs.forEach((seq, index) => {
          found[index] ??= bySeq.get(seq)
        })
      }
      return found.filter(article => article !== undefined)
    },
    async keep(stored, wordsVersion) {
      await nameAndKeep(stored, wordsVersion)
    },
    recount(seqs) {
      for (const key of seqs.map(Number)) {
        // The caller may hold another object than the cache: a copy, or an article that the cache
        // has dropped or read anew. So this counts the object in the cache.
        const kept = cache.get(key)
        if (kept !== undefined) cache.set(key, kept, form.bytesOf(kept))
      }
    },
    names: names.read,
    knownId: seq => cache.get(Number(seq))?.id ?? null,
    stats: () => ({ articles: cache.stats(), names: names.stats() }),
  }
}

/** The fields of an article that searches look at. */
export interface KeptArticle {
  readonly seq: bigint
  readonly id: string
}

/**
 * The form in which an opened index keeps and returns articles. If the application chooses the form
 * that it sends, each article is kept only once.
 */
export interface ArticleForm<A extends KeptArticle> {
  make(row: ArticleRow): A
  /** Bytes of memory that an article takes now. */
  bytesOf(article: A): number
}

/** Articles as objects with all their fields. */
export const ROWS: ArticleForm<ArticleRow> = {
  make: row => row,
  /** Texts at two bytes a character; the fields, dates and authors take some 500 bytes more. */
  bytesOf: ({ title, url, snippet }) =>
    500 + 2 * (title.length + url.length + (snippet?.length ?? 0)),
}

/** Outlets and authors as articles show them, by number. */
export interface Names {
  outlet(publisherNo: number): ArticleOutlet
  author(authorNo: number): Author
}

/** Bytes of a name with its id. */
const NAME_BYTES = 100

export interface NameCache {
  read(publisherNos: number[], authorNos: number[]): Promise<Names>
  stats(): CacheStats
}

/**
 * Reads names and keeps them. A name never changes once it has a number, and every page of results
 * needs names.
 *
 * @param limit bytes; outlets take up to a fifth
 */
export function createNameCache(source: ArticleSource, limit: number): NameCache {
  const outlets = createCache<number, ArticleOutlet>(limit / 5)
  const authors = createCache<number, Author>((limit * 4) / 5)
  return {
    async read(publisherNos, authorNos) {
      const [outletsByNo, authorsByNo] = await Promise.all([
        readThrough(outlets, publisherNos, missing => source.readOutlets(missing)),
        readThrough(authors, authorNos, missing => source.readAuthors(missing)),
      ])
      return {
        outlet: (no: number) => outletsByNo.get(no)!,
        author: (no: number) => authorsByNo.get(no)!,
      }
    },
    stats: () => together([outlets.stats(), authors.stats()]),
  }
}

async function readThrough<T extends {}>(
  cache: Cache<number, T>,
  nos: number[],
  read: (missing: number[]) => Promise<Map<number, T>>,
): Promise<Map<number, T>> {
  const found = new Map<number, T>()
  const missing: number[] = []
  for (const no of new Set(nos)) {
    const known = cache.get(no)
    if (known === undefined) missing.push(no)
    else found.set(no, known)
  }
  if (missing.length === 0) return found
  for (const [no, value] of await read(missing)) {
    found.set(no, value)
    cache.set(no, value, NAME_BYTES)
  }
  return found
}
