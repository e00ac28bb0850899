import { loadPage } from '../../services/normaliser/pages/load.ts'
import type { Template } from '../../services/normaliser/template.ts'
import { addressKey, readAddress } from '../../shared/articles/address.ts'
import { type Origins, readOrigins } from '../../shared/outlets/origins.ts'
import type { StoredPage } from '../../shared/outlets/page.ts'
import type { Pool } from '../../shared/postgres/pool.ts'

/** A page of crawl memory, with the article that was made of it. */
export interface FoundPage {
  /** `page:12`; null for an article of an archive. */
  id: string | null
  page: StoredPage | null
  /** Whether the answer of the outlet is still kept. */
  isKept: boolean
  /** The lines that pages of its outlet have in common; null: none was read before. */
  template: Template | null
  stored: StoredArticle | null
}

/** An article as it was indexed. */
export interface StoredArticle {
  id: string
  url: string
  title: string
  date: string | null
  authors: string[]
  text: string | null
  language: string
  /** Null: it is older than the origins, or of an archive. */
  origins: Origins | null
}

/** Finds a page by its number, its address, or the id or an address of its article. */
export async function findPage(pool: Pool, word: string): Promise<FoundPage | null> {
  const number = /^page:(\d{1,18})$/.exec(word)?.[1]
  const pageNo = number === undefined ? await pageAt(pool, word) : BigInt(number)
  if (pageNo !== null) return pageOf(pool, pageNo, await articleOf(pool, { pageNo }))
  const article = await articleOf(pool, { id: await idOf(pool, word) })
  return article === null ? null : pageOf(pool, article.pageNo, article)
}

async function pageOf(
  pool: Pool,
  pageNo: bigint | null,
  article: (StoredArticle & { pageNo: bigint | null }) | null,
): Promise<FoundPage | null> {
  const loaded = pageNo === null ? null : await loadPage(pool, pageNo, { finished: true })
  if (loaded === null && article === null) return null
  const { pageNo: _, ...stored } = article ?? { pageNo: null }
  return {
    id: pageNo === null ? null : `page:${pageNo}`,
    page: loaded?.page ?? null,
    isKept: loaded?.isKept ?? false,
    template: loaded?.template ?? null,
    stored: 'id' in stored ? stored : null,
  }
}

const keysOf = (word: string) => (readAddress(word) === null ? [] : [word, addressKey(word)])

/** The number of the page at an address, in any spelling. Index: unique (outlet_no, crawl_key). */
async function pageAt(pool: Pool, word: string): Promise<bigint | null> {
  const { rows } = await pool.query<{ page_no: bigint }>(
    `select p.page_no from outlets o, lateral (
       select page_no from pages where outlet_no = o.outlet_no and crawl_key = any ($1) offset 0) p
      order by 1 desc limit 1`,
    [keysOf(word)],
  )
  return rows[0]?.page_no ?? null
}

/** The id of the article at an address; a word that is no address is an id. */
async function idOf(pool: Pool, word: string): Promise<string> {
  const { rows } = await pool.query<{ id: string }>(
    `select a.id from (select distinct outlet from publishers) p, lateral (
       select id from article_addresses where outlet = p.outlet and address = any ($1) offset 0) a limit 1`,
    [keysOf(word)],
  )
  return rows[0]?.id ?? word
}

interface Row {
  id: string
  page_no: bigint | null
  url: string
  title: string
  published_at: Date | null
  authors: string[]
  body: string | null
  language: string
  origins: string | null
}

// $1 article's number.
const ARTICLE = `
  select a.id, e.page_no, t.url, t.title, a.published_at, t.body, a.language, p.origins,
         array(select name from unnest(a.author_nos) with ordinality n (author_no, place)
                 join authors using (author_no) order by place) as authors
    from articles a join article_texts t using (seq) left join embeddings e using (seq)
    left join pages p on p.page_no = e.page_no
   where a.seq = $1`

async function articleOf(pool: Pool, wanted: Wanted): Promise<(StoredArticle & { pageNo: bigint | null }) | null> {
  const { rows } = await pool.query<Row>(ARTICLE, [await seqOf(pool, wanted)])
  const [row] = rows
  if (row === undefined) return null
  return {
    ...{ id: row.id, pageNo: row.page_no, url: row.url, title: row.title, authors: row.authors, text: row.body },
    date: row.published_at?.toISOString() ?? null,
    language: row.language,
    origins: row.origins === null ? null : readOrigins(row.origins),
  }
}

/** An article by its id, or by the number of the page that it was made of. */
type Wanted = { id: string } | { pageNo: bigint }

/**
 * Articles that are looked at first. Pages are stored for a week (PAGES_KEEP), in which 400 outlets
 * publish half as many.
 */
const RECENT = 262_144n

// No index has ids or numbers of pages. $1 and $2 bound `seq`, which has one.
const BY_ID = 'select seq from articles where seq > $1 and seq <= $2 and id = $3'
const BY_PAGE = 'select seq from embeddings where seq > $1 and seq <= $2 and page_no = $3 order by seq limit 1'

/** The number of an article; null: there is none. All articles are read when it is an old one. */
async function seqOf(pool: Pool, wanted: Wanted): Promise<bigint | null> {
  if ('id' in wanted && !(await isTaken(pool, wanted.id))) return null
  const [statement, value] = 'id' in wanted ? [BY_ID, wanted.id] : [BY_PAGE, wanted.pageNo]
  const { rows: clock } = await pool.query<{ last_seq: bigint }>('select last_seq from ingest_clock')
  const last = clock[0]!.last_seq
  for (const [after, to] of [
    [last - RECENT, last],
    [0n, last - RECENT],
  ]) {
    const { rows } = await pool.query<{ seq: bigint }>(statement, [after, to, value])
    if (rows[0] !== undefined) return rows[0].seq
  }
  return null
}

/** Whether an article has this id. Index: the primary key. */
async function isTaken(pool: Pool, id: string): Promise<boolean> {
  return (await pool.query('select from article_ids where id = $1', [id])).rowCount === 1
}
