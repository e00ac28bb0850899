import type { SearchIndex } from '../../../search/index.ts'
import { type Listed, type Piece, pieceOf, type ShownArticle } from '../articles/shown-article.ts'
import type { ArticleObject } from '../contract/resources.ts'
import { optional, text, writeElement, type XmlElement } from './xml.ts'

/** Items stand in the channel, which stands in the document. */
const INDENT = '    '
const END = Buffer.from(`${INDENT}</item>\n`)

/**
 * Makes the items of articles that no feed has shown yet, and counts their bytes in the cache of
 * the index.
 */
export function makeItems(index: Pick<SearchIndex<ShownArticle>, 'recount'>, articles: readonly Listed[]): void {
  const without = articles.filter(({ pieces }) => pieces.item === null)
  for (const { pieces } of without) pieces.item = makeItem(pieces.json)
  if (without.length > 0) index.recount(without)
}

/** The item of an article, whose fields are read from its JSON: rows are not kept. */
export function makeItem(json: Piece): Piece {
  const article: ArticleObject = JSON.parse(json.bytes.toString())
  return pieceOf(writeElement(itemOf(article), INDENT))
}

/** The item that `makeItems` has made. */
export function itemPiece({ pieces }: Listed): Piece {
  if (pieces.item === null) throw new Error('The item has not been made.')
  return pieces.item
}

/** Adds the bytes of an article's item, with its relevance where it has one. */
export function addItem(parts: Buffer[], article: Listed): void {
  const { bytes } = itemPiece(article)
  if (article.relevance === undefined) {
    parts.push(bytes)
    return
  }
  const relevance = writeElement(text('pc:relevance', String(article.relevance)), `${INDENT}  `)
  parts.push(bytes.subarray(0, -END.length), Buffer.from(relevance), END)
}

function itemOf(article: ArticleObject): XmlElement {
  const { name, domain } = article.outlet
  const outlet: XmlElement = {
    name: 'pc:outlet',
    ...(domain === null ? {} : { attributes: { domain } }),
    content: name ?? '',
  }
  return {
    name: 'item',
    content: [
      text('title', article.title),
      text('link', article.url),
      { name: 'guid', attributes: { isPermaLink: 'false' }, content: article.id },
      // RFC 822 with the four digits of RSS 2.0.
      ...optional('pubDate', article.published_at && new Date(article.published_at).toUTCString()),
      ...optional('author', article.authors.map(author => author.name).join(', ') || null),
      ...(name === null && domain === null ? [] : [outlet]),
      text('pc:country', article.country),
    ],
  }
}
