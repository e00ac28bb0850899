import compression from 'compression'
import cors from 'cors'
import express, { type Express, type Request, type RequestHandler, type Response, type Router } from 'express'
import helmet from 'helmet'
import type { SearchIndex } from '../../search/index.ts'
import type { Config } from '../../shared/config/config.ts'
import type { Logger } from '../../shared/log/logger.ts'
import type { Plan } from '../../shared/plans/plan.ts'
import type { Pool } from '../../shared/postgres/pool.ts'
import { chargeMonth, checkKey, checkQuota } from './access/access.ts'
import { createCountPermits, createSearchPermits, withPermitOf } from './access/key-permits.ts'
import { accessOf } from './access/locals.ts'
import type { AddressLock } from './access/lock.ts'
import type { Permits } from './access/permits.ts'
import { createRateStore, limitRate } from './access/rate.ts'
import { answerArticles } from './articles/articles.ts'
import type { Searches } from './articles/find.ts'
import type { ShownArticle } from './articles/shown-article.ts'
import { ApiError } from './contract/api-error.ts'
import { HEADERS } from './contract/headers.ts'
import type { CursorSecret } from './cursor/cursor.ts'
import { answerCounts } from './explore/counts.ts'
import { answerSuggestions } from './explore/suggestions.ts'
import { answerFeed } from './feed/feed.ts'
import { type Answer, createSender } from './http/answer.ts'
import { refuseMethod, refusePath, sendError } from './http/error-response.ts'
import { healthPages, type Readiness } from './http/health.ts'
import { observe } from './http/observe.ts'
import { rawQueryOf } from './http/raw-query.ts'
import { nameRequest } from './http/request-id.ts'
import { trustProxy } from './http/trust-proxy.ts'
import { REFERENCE_PATHS, referencePages } from './reference/pages.ts'
import { FEED_PATH } from './search-feeds/address.ts'
import { feedPages } from './search-feeds/manage.ts'
import { checkToken, countFeedRequest, searchOfFeed } from './search-feeds/token.ts'
import type { SemanticSearch } from './semantic/query.ts'
import { webPages } from './web/pages.ts'

export interface Parts {
  config: Config
  log: Logger
  pool: Pool
  index: SearchIndex<ShownArticle>
  semantic: SemanticSearch<ShownArticle>
  lock: AddressLock
  cursorSecret: CursorSecret
  /** Address of the API as its clients write it. */
  publicUrl: string
  readiness: Readiness
  /** The pages behind OPERATOR_KEY; null: it is not set. */
  operators: Router | null
}

/**
 * The whole HTTP interface, in the order in which a request meets it: named, measured, the open
 * pages; then the key, the minute, and only then path and method (decisions 5 and 6).
 */
export function createApp(parts: Parts): Express {
  const { config, log, pool, lock } = parts
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag') // over all but the cursor, see `answer.ts`
  app.set('query parser', false) // `parameters/querystring.ts` reads it
  app.enable('strict routing')
  app.enable('case sensitive routing')
  app.set('trust proxy', trustProxy(config.TRUST_PROXY))

  app.use(nameRequest, observe(log), securityHeaders(parts.publicUrl))
  if (config.CORS_ORIGINS.length > 0) app.use(crossOrigin(config.CORS_ORIGINS))
  app.use(exceptAnswers(compression()))

  app.use(readingAlone(healthPages(parts.readiness)))
  app.use(readingAlone(referencePages(config.SERVICE_NAME)))
  app.use(readingAlone(webPages()))
  if (parts.operators) app.use(parts.operators)

  const counts = createCountPermits(config)
  const minute = limitRate(createRateStore(pool, counts))
  const tools = toolsOf(parts, counts)
  const operation = (answer: Operation, queryOf?: QueryOf) => operate(tools, answer, queryOf)
  const identity = {
    serviceName: config.SERVICE_NAME,
    publicUrl: parts.publicUrl,
    namespace: config.FEED_NAMESPACE_URL,
  }
  // A feed's address brings its key.
  app.get(
    FEED_PATH,
    timed([checkToken(pool, lock), ...minute, countFeedRequest(pool, counts)]),
    operation((searches, query, plan) => answerFeed(searches, identity, query, plan, 'explorer'), searchOfFeed),
  )

  app.use(timed([checkKey(pool, lock), ...minute]))
  app.use(feedPages({ pool, counts, publicUrl: parts.publicUrl, serviceName: config.SERVICE_NAME }))
  app
    .route('/v1/articles')
    .get(operation((searches, query, plan) => answerArticles(searches, parts.cursorSecret, query, plan)))
    .all(refuseMethod)
  app
    .route('/v1/articles.rss')
    .get(operation((searches, query, plan) => answerFeed(searches, identity, query, plan)))
    .all(refuseMethod)
  app
    .route('/explore/counts')
    .get(operation((searches, query, plan) => answerCounts(searches, query, plan)))
    .all(refuseMethod)
  app.route('/explore/suggestions').get(suggestNames(tools)).all(refuseMethod)
  // The open pages have answered GET and HEAD before the key was looked at.
  app.all(['/healthz', '/readyz', ...REFERENCE_PATHS], refuseMethod)
  app.all(['/status', '/queues'], sayThatPagesAreOff)
  app.all(FEED_PATH, refuseMethod)
  app.all('/metrics', sayWhereMetricsAre)
  app.use(refusePath)
  app.use(sendError(log))
  return app
}

/**
 * Pages for GET and HEAD. Any other method goes on to the key; the router itself would answer
 * OPTIONS.
 */
function readingAlone(pages: Router): RequestHandler {
  return (request, response, next) => {
    if (request.method === 'GET' || request.method === 'HEAD') pages(request, response, next)
    else next()
  }
}

/** Paths whose answers `http/answer.ts` compresses. */
const ANSWERS = /^\/(v1\/articles(\.rss)?|explore\/(counts|suggestions)|feeds\/[^/]+\.rss)$/

function exceptAnswers(handler: RequestHandler): RequestHandler {
  return (request, response, next) => {
    if (ANSWERS.test(request.path)) next()
    else handler(request, response, next)
  }
}

/** Reached only where OPERATOR_KEY is not set, and by nobody without an API key. */
const sayThatPagesAreOff: RequestHandler = (_request, _response, next) => {
  next(new ApiError('not_found', { message: 'The pages for operators are off: OPERATOR_KEY is not set.' }))
}

/** Suggestions follow every key that is pressed, so they cost nothing of the month. */
function suggestNames({ index, send }: Tools): RequestHandler {
  return async (request, response) => {
    const { plan } = accessOf(response).key
    const found = await answerSuggestions(index, rawQueryOf(request.originalUrl), plan)
    await send(request, response, found, async () => {})
  }
}

/** Reached only with an API key: without one, this path is 401 like every unknown path. */
const sayWhereMetricsAre: RequestHandler = (_request, _response, next) => {
  next(new ApiError('not_found', { message: 'Metrics are not on this port, but on METRICS_PORT of each process.' }))
}

/** What an operation answers with. */
const toolsOf = (parts: Parts, counts: Permits) => ({
  ...parts,
  counts,
  permits: createSearchPermits(parts.config),
  send: createSender(parts.config.SEARCH_CACHE_COMPRESSED),
})

type Tools = ReturnType<typeof toolsOf>

type Operation = (searches: Searches, rawQuery: string, plan: Plan) => Promise<Answer>

/** The query string that an operation answers. */
type QueryOf = (request: Request, response: Response) => string

/**
 * Runs an operation: the month first, then the question, then the answer, which alone is charged.
 */
function operate(
  { pool, index, semantic, permits, counts, send }: Tools,
  answer: Operation,
  queryOf: QueryOf = request => rawQueryOf(request.originalUrl),
): RequestHandler {
  return async (request, response) => {
    checkQuota(response)
    const { plan } = accessOf(response).key
    const withPermit = withPermitOf(permits, response)
    const found = await answer({ index, semantic, withPermit }, queryOf(request, response), plan)
    response.locals.search = found.search
    response.locals.searchMs = found.searchMs
    await send(request, response, found, async () => {
      const start = performance.now()
      await chargeMonth(pool, counts, response)
      noteAccess(response, start)
    })
  }
}

/** Middleware whose time is the access's, of those requests that it lets through. */
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

function noteAccess(response: Response, start: number): void {
  response.locals.accessMs = (response.locals.accessMs ?? 0) + performance.now() - start
}

/** What every answer says to browsers; the reference page has a policy of its own. */
function securityHeaders(publicUrl: string): RequestHandler {
  return helmet({
    contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
    // Only where clients come by https; the port that we listen on speaks http.
    strictTransportSecurity: publicUrl.startsWith('https:') ? { includeSubDomains: false } : false,
  })
}

/**
 * Lets pages of the origins read answers, and answers their browsers' preflights. Any other OPTIONS
 * is a method that is not served, after the key as everything.
 */
function crossOrigin(origins: string[]): RequestHandler[] {
  const reading = {
    origin: origins.includes('*') ? '*' : origins,
    methods: ['GET', 'HEAD'],
    allowedHeaders: ['Authorization', 'If-None-Match', 'X-Request-Id'],
    exposedHeaders: Object.keys(HEADERS),
    maxAge: 600,
    preflightContinue: true,
  }
  const changing = {
    ...reading,
    methods: [...reading.methods, 'POST', 'DELETE'],
    allowedHeaders: [...reading.allowedHeaders, 'Content-Type'],
  }
  return [
    cors<Request>((request, done) => done(null, /^\/explore\/feeds(\/|$)/.test(request.path) ? changing : reading)),
    (request, response, next) => {
      const asks = request.method === 'OPTIONS' && request.get('Access-Control-Request-Method') !== undefined
      if (asks && response.hasHeader('Access-Control-Allow-Origin')) response.status(204).end()
      else next()
    },
  ]
}
