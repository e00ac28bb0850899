import express, {
  type Express,
  type Request,
  type RequestHandler,
  type Response,
  type Router,
} from 'express'
import type { SearchIndex } from '../../search/index.ts'
import type { Config } from '../../shared/config/config.ts'
import { openTextGroups } from '../../shared/copies/text-groups.ts'
import { withSets } from '../../shared/desk/outlet-sets.ts'
import { modelNamed } from '../../shared/embeddings/models.ts'
import type { Logger } from '../../shared/log/logger.ts'
import type { Pool } from '../../shared/postgres/pool.ts'
import {
  accessOf,
  chargeMonth,
  checkKey,
  checkQuota,
  limitRate,
  payOf,
  withPermitOf,
} from './access/access.ts'
import { type Admissions, createAdmissions, createDoor } from './access/admissions.ts'
import type { AddressLock } from './access/lock.ts'
import {
  createAgentPermits,
  createCountPermits,
  createQuestionPermits,
  createSearchPermits,
  type Permits,
} from './access/permits.ts'
import { createTurns } from './access/turns.ts'
import { agentDoor } from './agents/door.ts'
import type { Answers } from './agents/tools.ts'
import { type Asked, answerArticles, createStandingAnswers } from './articles/articles.ts'
import type { Asking, Searches } from './articles/find.ts'
import type { ShownArticle } from './articles/shown-article.ts'
import { CITE_FILE, CITE_PAGE, citing } from './citations/citing.ts'
import type { CursorSecret } from './contract/cursor.ts'
import { ApiError } from './contract/errors.ts'
import { rawQueryOf } from './contract/query-string.ts'
import { type ReadRequest, readRequest, readSearch } from './contract/request.ts'
import { SEARCH_LIMITS } from './desk/described.ts'
import { ownerPages } from './desk/desk.ts'
import { linkPages } from './desk/links.ts'
import {
  ARTICLE_PAGE,
  ARTICLE_PATH,
  answerArticle,
  answerRelated,
} from './explore/article-by-id.ts'
import { answerCompleteness } from './explore/completeness.ts'
import { answerCopies } from './explore/copies.ts'
import { answerCounts } from './explore/counts.ts'
import { answerLimits, limitsOf } from './explore/limits.ts'
import { answerMatches } from './explore/matches.ts'
import { createMeaning } from './explore/meaning.ts'
import { answerRemovals } from './explore/removals.ts'
import { removedPage } from './explore/removed.ts'
import { answerSuggestions } from './explore/suggestions.ts'
import { answerSearchFeed } from './feeds/atom-json.ts'
import { FEED_PATH } from './feeds/feed-address.ts'
import { answerFeed, type FeedIdentity } from './feeds/rss.ts'
import { askedFeed, checkToken, countFeedRequest, countInMinuteOfKey } from './feeds/token.ts'
import { trustProxy } from './http/address.ts'
import {
  type Answer,
  type Content,
  createSender,
  type NoteError,
  notesOf,
  refuseMethod,
  refusePath,
  type Sender,
  sendError,
} from './http/answer.ts'
import { readBody } from './http/body.ts'
import { healthPages, type Readiness } from './http/health.ts'
import { observe } from './http/observe.ts'
import { crossOrigin, pageSecurity, securityHeaders } from './http/security.ts'
import type { SemanticSearch } from './semantic/query.ts'
import { BOT_PATH, botPage, WELL_KNOWN_PATHS, wellKnownPages } from './site/bot.ts'
import { REFERENCE_PATHS, referencePages } from './site/reference.ts'
import { explorerWith, webPages } from './site/web.ts'
import type { History } from './standbys/history.ts'

export interface Parts {
  config: Config
  log: Logger
  pool: Pool
  history: History
  index: SearchIndex<ShownArticle>
  semantic: SemanticSearch<ShownArticle>
  lock: AddressLock
  /** For requests whose key or token this process does not know. */
  strangers: Permits
  cursorSecret: CursorSecret
  /** Address of the API as its clients write it. */
  publicUrl: string
  readiness: Readiness
  /** The pages behind OPERATOR_KEY; null: it is not set. */
  operators: Router | null
}

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
  const door = createDoor(parts.strangers)
  const admissions = createAdmissions(pool, door)
  const minute = limitRate()
  const admitted = timed([checkKey(admissions, lock), ...minute])
  const tools = toolsOf(parts, admissions)
  const operations = operationsOf(tools)
  app.get('/v1/articles', admitted, operations.articles.list)
  app.get('/v1/articles.rss', admitted, operations.articles.feed)

  app.use(readingAlone(healthPages(parts.readiness)))
  app.use(readingAlone(referencePages(config.SERVICE_NAME)))
  app.get(ARTICLE_PAGE, pageSecurity(), removedPage(pool, parts.strangers, explorerWith))
  app.use(readingAlone(webPages()))
  app.use(readingAlone(botPage(config)))
  app.use(readingAlone(wellKnownPages(config, parts.publicUrl)))
  const citations = citing({
    ...tools,
    ...identityOf(tools),
    model: config.EMBEDDINGS_MODEL,
    page: explorerWith,
  })
  app.get(CITE_PAGE, pageSecurity(), citations.page)
  if (parts.operators) app.use(parts.operators)

  app.use(linkPages(pool, parts.strangers))
  // The address of a feed holds a token, which leads to the key of the feed.
  app.get(
    FEED_PATH,
    timed([
      checkToken(pool, lock, door, counts),
      countInMinuteOfKey(pool, counts),
      ...minute,
      countFeedRequest(pool, counts),
    ]),
    operations.searchFeed,
  )

  app.use(admitted)
  app.use(ownerPages({ ...tools, ...identityOf(parts), counts }))
  app.route('/explore/limits').get(answerLimits).all(refuseMethod())
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
function addExplored(
  app: Express,
  operations: ReturnType<typeof operationsOf>,
  citations: ReturnType<typeof citing>,
) {
  app.route([ARTICLE_PAGE, '/searches']).get(refusePath).all(refuseMethod())
  app.route('/explore/articles').get(operations.beside.list).all(refuseMethod())
  app.route('/explore/articles.rss').get(operations.beside.feed).all(refuseMethod())
  app.route(ARTICLE_PATH).get(operations.article).all(refuseMethod())
  app
    .route('/explore/citations')
    .post(readBody(SEARCH_LIMITS.body), citations.make)
    .all(refuseMethod('POST'))
  app.route(CITE_FILE).get(citations.file).all(refuseMethod())
  for (const name of [
    'copies',
    'counts',
    'coverage',
    'matches',
    'related',
    'removals',
    'suggestions',
  ] as const)
    app.route(`/explore/${name}`).get(operations[name]).all(refuseMethod())
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

const identityOf = ({ config, publicUrl }: Parts): FeedIdentity => ({
  serviceName: config.SERVICE_NAME,
  publicUrl,
  namespace: config.FEED_NAMESPACE_URL,
})

/** The answers that both programs and agents get. */
function answersOf({ cursorSecret, pool, index, config, history }: Tools) {
  let groupsOfTexts = openTextGroups(pool)
  history.onChange(() => {
    groupsOfTexts = openTextGroups(pool)
  })
  const meaningOf = createMeaning(pool, index, modelNamed(config.EMBEDDINGS_MODEL).near)
  return {
    articles: asking => answerArticles(asking, cursorSecret, readSearch),
    counts: asking => answerCounts(asking, meaningOf, groupsOfTexts),
    copies: asking => answerCopies(asking, pool, cursorSecret),
    // Completeness takes no request from the quota of the month, because it accompanies a search
    // that is charged. Its statement takes as long as a search, so it needs a permit.
    completeness: asking => asking.searches.withPermit(() => answerCompleteness(asking, pool)),
    related: asking => answerRelated(asking, pool),
    // It takes none of the month: nobody should save on what the law has them do.
    removals: asking => asking.searches.withPermit(() => answerRemovals(asking, pool)),
    limits: async ({ rawQuery }, response) => limitsOf({ originalUrl: `?${rawQuery}` }, response),
  } satisfies Answers
}

function operationsOf(tools: Tools) {
  const { cursorSecret, pool } = tools
  const answers = answersOf(tools)
  let standing = createStandingAnswers()
  tools.history.onChange(() => {
    standing = createStandingAnswers()
  })
  /** Wraps an operation so that a poll with nothing new needs no search. */
  const pollable = (operation: string, answer: Operation) =>
    operate(tools, async (asking, request, response) => {
      const { searches, rawQuery: query, plan } = asking
      if (!searches.state) return answer(asking, request, response)
      const asked: Asked = { operation, query, plan, state: searches.state, now: new Date() }
      // A failover may replace `standing` during the search. An answer from before the failover
      // must not enter the new one.
      const own = standing
      const known = own.find(asked, request.headers['if-none-match'])
      return known ?? own.keep(asked, await answer(asking, request, response))
    })
  const identity = identityOf(tools)
  /** The two operations, in the contract and beside it. */
  const both = (path: string, read: ReadRequest) => ({
    list: pollable(path, asking => answerArticles(asking, cursorSecret, read)),
    feed: pollable(`${path}.rss`, asking => answerFeed(asking, identity, `${path}.rss`, read)),
  })
  return {
    articles: both('/v1/articles', readRequest),
    beside: both('/explore/articles', readSearch),
    searchFeed: operate(tools, async (asking, request, response) => {
      const asked = askedFeed(request, response)
      const search = await withSets(pool, accessOf(response).key.id, asked.search)
      return answerSearchFeed(asking, identity, { ...asked, search })
    }),
    agents: agentDoor({ ...tools, answers }),
    article: operate(tools, (asking, { path }) => answerArticle(asking, pool, path)),
    counts: operate(tools, answers.counts),
    coverage: tell(tools, answers.completeness),
    copies: operate(tools, answers.copies),
    // `matches` runs the search of the page again, so it costs a request, too.
    matches: operate(tools, asking => answerMatches(asking, pool, cursorSecret)),
    related: operate(tools, answers.related),
    removals: tell(tools, answers.removals),
    // Suggestions cost nothing, because a page asks for them after every key press.
    suggestions: tell(tools, answerSuggestions),
  }
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
 * Runs an operation that goes with a search and takes no request from the quota of the month. When
 * the quota is used up, the operation is refused, as the search is.
 */
function tell(tools: Tools, answer: (asking: Asking) => Promise<Content>): RequestHandler {
  return async (request, response) => {
    checkQuota(response)
    await tools.send(
      request,
      response,
      await answer(await askingOf(tools, request, response)),
      async () => {},
    )
  }
}

/**
 * Answers 404 with this message. Only a request with an API key gets here: without one, such a path
 * is 401 like every unknown path.
 */
const sayInPlace = (message: string): RequestHandler => {
  return (_request, _response, next) => next(new ApiError('not_found', { message }))
}

/** Bytes of compressed answers that a process keeps. */
const COMPRESSED_MEMORY = 16 * 2 ** 20

/** The parts and functions that operations need. */
function toolsOf(parts: Parts, admissions: Admissions): Tools {
  const { config, log, index, semantic } = parts
  const permits = createSearchPermits(config)
  const questionPermits = createQuestionPermits(config)
  const agentPermits = createAgentPermits(config)
  const turns = createTurns()
  return {
    ...parts,
    send: createSender(COMPRESSED_MEMORY),
    note: notesOf(log),
    withAgentPermit: <T>(response: Response, work: () => Promise<T>): Promise<T> =>
      withPermitOf(agentPermits, turns, async () => {}, response)(work),
    searchesOf(response: Response): Searches {
      const pay = payOf(parts.pool, response)
      return {
        index,
        semantic,
        pay,
        state: response.locals.indexState,
        withPermit: withPermitOf(permits, turns, pay, response),
        withQuestionPermit: withPermitOf(questionPermits, turns, pay, response),
      }
    },
    async charge(response: Response): Promise<void> {
      const start = performance.now()
      await chargeMonth(admissions, response)
      noteAccess(response, start)
    },
  }
}

interface Tools extends Parts {
  send: Sender
  note: NoteError
  /** The index, and permits of the key, for the searches of a request. */
  searchesOf(response: Response): Searches
  withAgentPermit<T>(response: Response, work: () => Promise<T>): Promise<T>
  /** Counts the request in the month of its key. */
  charge(response: Response): Promise<void>
}

type Operation = (asking: Asking, request: Request, response: Response) => Promise<Answer>

async function askingOf(tools: Tools, request: Request, response: Response): Promise<Asking> {
  const { id, plan } = accessOf(response).key
  const rawQuery = await withSets(tools.pool, id, rawQueryOf(request.originalUrl))
  return { searches: tools.searchesOf(response), rawQuery, plan }
}

/**
 * Runs an operation. First it checks that the month has a request left, then the operation answers.
 * Only a good answer is charged.
 */
function operate(tools: Tools, answer: Operation): RequestHandler {
  return async (request, response) => {
    checkQuota(response)
    const asking = await askingOf(tools, request, response)
    const found = await answer(asking, request, response)
    response.locals.search = found.search
    response.locals.searchMs = found.searchMs
    await tools.send(request, response, found, () => tools.charge(response))
  }
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

function noteAccess(response: Response, start: number): void {
  response.locals.accessMs = (response.locals.accessMs ?? 0) + performance.now() - start
}
