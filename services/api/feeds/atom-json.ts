import { Feed, type Item } from 'feed'
import { eachIn, type Pace } from '#search/index'
import type { WithPermit } from '#services/api/access/access'
import type { Asking } from '#services/api/articles/find'
import { digestOf, type Listed } from '#services/api/articles/shown-article'
import { LIMITS } from '#services/api/contract/parameters'
import { readSearch } from '#services/api/contract/request'
import type { ArticleObject } from '#services/api/contract/resources'
import type { Answer, Content, TurnedBody } from '#services/api/http/answer'
import { snippetText } from '#shared/articles/article'
import { pageOf } from '#shared/desk/searches'
import { type Near, nearOf } from '#shared/embeddings/models'
import { FEED_FORMATS, type FeedFormat } from './feed-address.ts'
import { aboutSearch, carried, type FeedIdentity, findForFeed, rssOf } from './rss.ts'

/** A feed of a search as its address names it. */
export interface AskedFeed {
  format: FeedFormat
  title: string
  /** A query string in its one spelling. */
  search: string
}

/**
 * `GET /feeds/<token>.rss`, `.atom`, `.json`: the first page of the feed's search. Of a search by
 * meaning it has only what is close, as it would otherwise tell of articles on anything.
 *
 * @param near of the model in use
 * @throws ApiError
 */
export async function answerSearchFeed(
  asking: Asking,
  identity: FeedIdentity,
  { format, title, search }: AskedFeed,
  near: Near | null,
): Promise<Answer<TurnedBody>> {
  const found = await findForFeed(
    { ...asking, rawQuery: search },
    readSearch,
    LIMITS.perPage.maximum,
    words => nearOf(near, words) ?? 0,
  )
  const content =
    format === 'rss'
      ? rssOf(asking.searches.index, identity, found, { title })
      : otherFormat(
          format,
          identity,
          { title, search, articles: found.rows },
          asking.searches.withPermit,
        )
  return { ...content, ...aboutSearch(found) }
}

/** The data from which Atom and JSON Feed are written. */
interface FoundFeed extends Omit<AskedFeed, 'format'> {
  articles: readonly Listed[]
}

/**
 * A feed as Atom (RFC 4287) or JSON Feed 1, written by the package `feed`. Like our RSS, it holds
 * no time of writing, and not its own address, which is a secret. To write it takes longer than the
 * search, so the key has its turn for each article.
 */
export function otherFormat(
  format: 'atom' | 'json',
  identity: FeedIdentity,
  found: FoundFeed,
  withPermit: WithPermit,
): Content<Promise<Buffer>> {
  const { serviceName, publicUrl, namespace } = identity
  const { title, search, articles } = found
  return {
    contentType: `${FEED_FORMATS[format].contentType}; charset=utf-8`,
    tagged: JSON.stringify([
      format,
      'snippets of whole words',
      serviceName,
      namespace,
      title,
      search,
      digestOf(articles, ({ pieces }) => pieces.json),
    ]),
    untagged: () => publicUrl,
    body: publicUrl =>
      withPermit(async pace =>
        Buffer.from(await WRITERS[format]({ ...identity, publicUrl }, found, pace)),
      ),
  }
}

const WRITERS = { atom: writeAtom, json: writeJson }

const END_OF_ATOM = '\n</feed>'

/**
 * Writes Atom. The package `feed` does not escape an `&amp;` in a text, so we escape each `&`
 * before. The package writes titles and summaries as HTML. It writes a feed in one step, so we let
 * it write each article as a feed, from which we cut the head and the end.
 */
async function writeAtom(identity: FeedIdentity, found: FoundFeed, pace: Pace): Promise<string> {
  const feed = emptyFeed(identity, found, escapeAmpersand, true)
  const head = feed.atom1().slice(0, -END_OF_ATOM.length)
  const entries = await eachIn(pace, found.articles, listed => {
    const article = articleOf(listed)
    feed.items = []
    feed.addItem({
      ...itemOf(article),
      id: `urn:perscope:${encodeURIComponent(article.id)}`,
      title: escapeHtml(article.title),
      // Without an author, a reader would show the author of the feed.
      ...authorsOf(
        (article.authors.length > 0 ? article.authors : [outletOf(article)]).map(escapedName),
      ),
      category: categoriesOf(identity.namespace, article),
    })
    return feed.atom1().slice(head.length, -END_OF_ATOM.length)
  })
  return `${head}${entries.join('')}${END_OF_ATOM}`
}

/**
 * Writes JSON Feed. Fields for which JSON Feed has no member stand in the extension `_perscope`.
 */
async function writeJson(identity: FeedIdentity, found: FoundFeed, pace: Pace): Promise<string> {
  const feed = emptyFeed(identity, found, text => text, false)
  await eachIn(pace, found.articles, listed => {
    const article = articleOf(listed)
    const { outlet, country, language, relevance } = article
    feed.addItem({
      ...itemOf(article),
      id: article.id,
      title: article.title,
      // `feed` writes only one author, so the names are joined.
      ...authorsOf(
        article.authors.length > 0 ? [article.authors.map(({ name }) => name).join(', ')] : [],
      ),
      extensions: [{ name: '_perscope', objects: { outlet, country, language, relevance } }],
    })
  })
  return feed.json1()
}

/**
 * The time of a feed without articles. Atom requires `updated`, and the feed must stay the same
 * while no article comes.
 */
const NEVER = 0

/**
 * @param signed the feed gets an author, as Atom requires. JSON Feed gets none, because readers
 * would show it as the author of the items
 */
function emptyFeed(
  identity: FeedIdentity,
  found: FoundFeed,
  text: (plain: string) => string,
  signed: boolean,
): Feed {
  const page = pageOf(identity.publicUrl, found.search)
  const latest = Math.max(NEVER, ...found.articles.map(({ time }) => time ?? NEVER))
  return new Feed({
    id: page,
    link: page,
    title: text(carried(found.title)),
    updated: new Date(latest),
    ...(signed ? { author: { name: text(carried(identity.serviceName)) } } : {}),
    generator: false,
  })
}

/** An article, with its fields read from its JSON, without characters that XML cannot carry. */
function articleOf({ pieces, relevance }: Listed): ArticleObject {
  const article: ArticleObject = JSON.parse(pieces.json.bytes.toString(), (_name, value) =>
    typeof value === 'string' ? carried(value) : value,
  )
  return relevance === undefined ? article : { ...article, relevance }
}

function itemOf({
  url,
  published_at,
  ingested_at,
  snippet,
}: ArticleObject): Omit<Item, 'id' | 'title'> {
  return {
    link: url,
    date: new Date(published_at ?? ingested_at ?? NEVER),
    ...(published_at === null ? {} : { published: new Date(published_at) }),
    description: escapeHtml(snippet === null ? '' : snippetText(snippet)),
  }
}

const authorsOf = (names: string[]): Pick<Item, 'author'> =>
  names.join('') === '' ? {} : { author: names.map(name => ({ name })) }

/**
 * Outlet and country, which Atom has no elements for. `feed` does not escape `<` in attributes, so
 * we write the wide form `＜` instead.
 */
function categoriesOf(namespace: string, { outlet, country }: ArticleObject) {
  const wide = (text: string) => text.replaceAll('<', '＜')
  const term = outlet.domain ?? outlet.name
  return [
    ...(term === null
      ? []
      : [{ name: wide(outlet.name ?? term), term: wide(term), scheme: `${namespace}#outlet` }]),
    { name: country, term: country, scheme: `${namespace}#country` },
  ]
}

/**
 * The outlet as an author. Its name is empty when name and domain are unknown; a reader of Atom
 * then shows the author of the feed.
 */
const outletOf = ({ outlet }: ArticleObject) => ({ name: outlet.name ?? outlet.domain ?? '' })
const escapedName = ({ name }: { name: string }) => escapeAmpersand(name)

const escapeAmpersand = (text: string) => text.replaceAll('&', '&amp;')
const escapeHtml = (text: string) =>
  escapeAmpersand(text).replaceAll('<', '&lt;').replaceAll('>', '&gt;')
