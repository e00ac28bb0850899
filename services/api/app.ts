import express, { type Express, type RequestHandler, type Response, Router } from 'express'
import type { Config } from '#shared/config/config'
import { BOT_PATH } from '#shared/outlets/rights'
import { checkKey, type KeptFor, limitRate } from './access/access.ts'
import { createAdmissions, createLookup } from './access/admissions.ts'
import { createCountPermits } from './access/permits.ts'
import { CITE_FILE, CITE_PAGE, citing } from './citations/citing.ts'
import { ApiError } from './contract/errors.ts'
import { SEARCH_LIMITS } from './desk/described.ts'
import { ownerPages } from './desk/desk.ts'
import { linkPages } from './desk/links.ts'
import { ARTICLE_PAGE, ARTICLE_PATH } from './explore/article-by-id.ts'
import { removedPage } from './explore/removed.ts'
import { FEED_PATH } from './feeds/feed-address.ts'
import { checkToken, countFeedRequest, countInMinuteOfKey } from './feeds/token.ts'
import { refuseMethod, refusePath, sendError } from './http/answer.ts'
import { readBody } from './http/body.ts'
import { addHealthPages } from './http/health.ts'
import { observe } from './http/observe.ts'
import { crossOrigin, pageSecurity, securityHeaders } from './http/security.ts'
import { trustProxy } from './http/trust-proxy.ts'
import {
  identityOf,
  noteAccess,
  type Operations,
  operationsOf,
  type Parts,
  toolsOf,
} from './operations.ts'
import { addBotPage, addWellKnownPages, WELL_KNOWN_PATHS } from './site/bot.ts'
import { addReferencePages, REFERENCE_PATHS } from './site/reference.ts'
import { addWebPages, explorerWith } from './site/web.ts'

/**
 * The whole HTTP interface, in the order in which a request meets it. First the request gets its id
 * and is measured. Then come the open pages, the key and the minute, and only then path and method
 * (decisions 5 and 6). The two operations stand before the open pages, because nearly all requests
 * call them.
 */
export function createApp(parts: Parts): Express {
  const { config, log, pool, lock } = parts
  const app = newApp(config)
  app.use(observe(log), securityHeaders(parts.publicUrl))
  if (config.CORS_ORIGINS.length > 0) app.use(crossOrigin(config.CORS_ORIGINS))

  const counts = createCountPermits(config)
  const lookup = createLookup(parts.strangers)
  const admissions = createAdmissions(pool, lookup)
  const minute = limitRate()
  const admittedWith = (kept?: KeptFor) => timed([checkKey(admissions, lock, kept), ...minute])
  const tools = toolsOf(parts, admissions)
  const operations = operationsOf(tools)
  const { list, feed } = operations.articles
  app.get('/v1/articles', admittedWith(list.kept), list.answer)
  app.get('/v1/articles.rss', admittedWith(feed.kept), feed.answer)

  const pages = Router({ strict: true, caseSensitive: true })
  addHealthPages(pages, parts.readiness)
  addReferencePages(pages, config.SERVICE_NAME)
  pages.get(ARTICLE_PAGE, pageSecurity(), removedPage(pool, parts.strangers, explorerWith))
  addWebPages(pages)
  addBotPage(pages, config)
  addWellKnownPages(pages, config, parts.publicUrl)
  app.use(readingAlone(pages))
  const citations = citing({
    ...tools,
    ...identityOf(tools),
    model: config.EMBEDDINGS_MODEL,
    page: explorerWith,
  })
  app.get(CITE_PAGE, pageSecurity(), citations.page)
  if (parts.operators) app.use(parts.operators)

  app.use(linkPages(pool, parts.strangers, config.SERVICE_NAME))
  // The address of a feed holds a token, which leads to the key of the feed.
  app.get(
    FEED_PATH,
    timed([
      checkToken(pool, lock, lookup, counts),
      countInMinuteOfKey(pool, counts),
      ...minute,
      countFeedRequest(pool, counts),
    ]),
    operations.searchFeed,
  )

  app.use(admittedWith())
  app.use(ownerPages({ ...tools, ...identityOf(parts), counts }))
  addExplored(app, operations, citations)
  // The routes above have answered GET and HEAD of these paths, so only other methods get here.
  const open = ['/healthz', '/readyz', BOT_PATH, ...WELL_KNOWN_PATHS, ...REFERENCE_PATHS]
  app.all(['/v1/articles', '/v1/articles.rss', ...open], refuseMethod())
  // A request gets here only where OPERATOR_KEY is not set.
  app.all('/status', sayInPlace('The pages for operators are off: OPERATOR_KEY is not set.'))
  app.all([FEED_PATH, CITE_PAGE], refuseMethod())
  app.all(
    '/metrics',
    sayInPlace('Metrics are not on this port, but on METRICS_PORT of each process.'),
  )
  app.use(refusePath)
  app.use(sendError(tools.note))
  return app
}

/** Adds the paths beside the contract that need a key. */
function addExplored(app: Express, operations: Operations, citations: ReturnType<typeof citing>) {
  app.route([ARTICLE_PAGE, '/searches']).get(refusePath).all(refuseMethod())
  app.route(ARTICLE_PATH).get(operations.article).all(refuseMethod())
  app
    .route('/explore/citations')
    .post(readBody(SEARCH_LIMITS.body), citations.make)
    .all(refuseMethod('POST'))
  app.route(CITE_FILE).get(citations.file).all(refuseMethod())
  for (const [name, answer] of Object.entries(operations.explore))
    app.route(`/explore/${name}`).get(answer).all(refuseMethod())
  app.route('/mcp').post(operations.agents).all(refuseMethod('POST'))
}

function newApp(config: Config): Express {
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag') // `answer.ts` makes ETags, which do not cover cursors
  app.set('query parser', false) // `contract/query-string.ts` reads it
  app.enable('strict routing')
  app.enable('case sensitive routing')
  app.set('trust proxy', trustProxy(config.TRUST_PROXY))
  return app
}

/**
 * Serves pages for GET and HEAD. A request with another method goes on to the check of its key;
 * without this function, the router would answer OPTIONS.
 */
function readingAlone(pages: Router): RequestHandler {
  return (request, response, next) => {
    if (request.method === 'GET' || request.method === 'HEAD') pages(request, response, next)
    else next()
  }
}

/**
 * Answers 404 with this message. Only a request with an API key gets here: without one, such a path
 * is 401 like every unknown path.
 */
const sayInPlace = (message: string): RequestHandler => {
  return (_request, _response, next) => next(new ApiError('not_found', { message }))
}

/** Measures the time that these handlers take, for requests that they let through. */
function timed(handlers: RequestHandler[]): RequestHandler[] {
  const starts = new WeakMap<Response, number>()
  return [
    (_request, response, next) => {
      starts.set(response, performance.now())
      next()
    },
    ...handlers,
    (_request, response, next) => {
      noteAccess(response, starts.get(response)!)
      next()
    },
  ]
}
