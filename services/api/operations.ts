import type { Request, RequestHandler, Response, Router } from 'express'
import type { SearchIndex } from '#search/index'
import type { Config } from '#shared/config/config'
import { openTextGroups } from '#shared/copies/text-groups'
import { namesIn, withSets } from '#shared/desk/outlet-sets'
import { modelNamed } from '#shared/embeddings/models'
import type { Logger } from '#shared/log/logger'
import { endingWith, type Pool } from '#shared/postgres/pool'
import {
  accessOf,
  chargeMonth,
  checkQuota,
  type KeptFor,
  leavesOf,
  payOf,
  withPermitOf,
} from './access/access.ts'
import type { Admissions } from './access/admissions.ts'
import type { AddressLock } from './access/lock.ts'
import {
  createAgentPermits,
  createQuestionPermits,
  createSearchPermits,
  type Permits,
} from './access/permits.ts'
import { createAsking, createShares } from './access/shares.ts'
import { createTurns } from './access/turns.ts'
import { agentEndpoint } from './agents/endpoint.ts'
import type { Answers } from './agents/tools.ts'
import { type Asked, answerArticles, createStandingAnswers } from './articles/articles.ts'
import type { Asking, Searches } from './articles/find.ts'
import type { ShownArticle } from './articles/shown-article.ts'
import type { CursorSecret } from './contract/cursor.ts'
import { rawQueryOf } from './contract/query-string.ts'
import { type ReadRequest, readRequest, readSearch } from './contract/request.ts'
import { answerArticle, answerRelated } from './explore/article-by-id.ts'
import { answerCompleteness } from './explore/completeness.ts'
import { answerCopies } from './explore/copies.ts'
import { answerCounts } from './explore/counts.ts'
import { answerLimits, limitsOf } from './explore/limits.ts'
import { answerMatches } from './explore/matches.ts'
import { createMeaning } from './explore/meaning.ts'
import { answerRemovals } from './explore/removals.ts'
import { answerSuggestions } from './explore/suggestions.ts'
import { answerWords } from './explore/words.ts'
import { answerSearchFeed } from './feeds/atom-json.ts'
import { answerFeed, type FeedIdentity } from './feeds/rss.ts'
import { askedFeed } from './feeds/token.ts'
import {
  type Answer,
  type Content,
  createSender,
  type NoteError,
  notesOf,
  type Sender,
  type TurnedBody,
} from './http/answer.ts'
import type { Readiness } from './http/health.ts'
import type { SemanticSearch } from './semantic/query.ts'
import type { History } from './standbys/history.ts'

/*
 * What the routes of `app.ts` answer with. Each operation is a handler, with the parts that it
 * needs.
 */

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

export const identityOf = ({ config, publicUrl }: Parts): FeedIdentity => ({
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
    articles: asking => answerArticles(asking, cursorSecret, readSearch, true),
    counts: asking => answerCounts(asking, meaningOf, groupsOfTexts),
    copies: asking => answerCopies(asking, cursorSecret),
    // Completeness takes no request from the quota of the month, because it accompanies a search
    // that is charged. Its statement takes as long as a search, so it needs a permit.
    completeness: asking => asking.searches.withPermit(() => answerCompleteness(asking)),
    related: answerRelated,
    // It takes none of the month: nobody should save on what the law has them do.
    removals: asking => asking.searches.withPermit(() => answerRemovals(asking)),
    words: answerWords,
    limits: async ({ rawQuery }, response) => limitsOf({ originalUrl: `?${rawQuery}` }, response),
  } satisfies Answers
}

/** A handler for each operation. */
export interface Operations extends Record<'searchFeed' | 'article', RequestHandler> {
  articles: Record<'list' | 'feed', Pollable>
  /** By their paths under `/explore/`. */
  explore: Record<string, RequestHandler>
  agents: RequestHandler[]
}

/** An operation whose answers may be kept. */
interface Pollable {
  kept: KeptFor
  answer: RequestHandler
}

export function operationsOf(tools: Tools): Operations {
  const { cursorSecret, config } = tools
  const { near } = modelNamed(config.EMBEDDINGS_MODEL)
  const answers = answersOf(tools)
  let standing = createStandingAnswers()
  tools.history.onChange(() => {
    standing = createStandingAnswers()
  })
  /** Wraps an operation, so that an answer which still holds needs no search. */
  const pollable = (operation: string, answer: Operation): Pollable => ({
    kept(request, plan) {
      const query = rawQueryOf(request.originalUrl)
      const own = standing
      const asked = { operation, query, plan, now: new Date() }
      const kept = own.latest(asked, request.headers['if-none-match'])
      return kept && { ...kept, isOfPrimary: () => own === standing }
    },
    answer: operate(tools, async (asking, request, response) => {
      const { searches, rawQuery: query, plan } = asking
      if (!searches.state) return answer(asking, request, response)
      const asked: Asked = { operation, query, plan, state: searches.state, now: new Date() }
      // A failover may replace `standing` during the search. An answer from before the failover
      // must not enter the new one.
      const own = standing
      const known = own.find(asked, request.headers['if-none-match'])
      return known ?? own.keep(asked, await answer(asking, request, response))
    }),
  })
  const identity = identityOf(tools)
  /** The two operations, in the contract and beside it. */
  const both = (path: string, read: ReadRequest) => ({
    list: pollable(path, asking => answerArticles(asking, cursorSecret, read, read === readSearch)),
    feed: pollable(`${path}.rss`, asking => answerFeed(asking, identity, `${path}.rss`, read)),
  })
  const beside = both('/explore/articles', readSearch)
  return {
    articles: both('/v1/articles', readRequest),
    searchFeed: operate(tools, async (asking, request, response) => {
      const asked = askedFeed(request, response)
      const search = await withSets(asking.searches.db, accessOf(response).key.id, asked.search)
      return answerSearchFeed(asking, identity, { ...asked, search }, near)
    }),
    agents: agentEndpoint({ ...tools, answers }),
    article: operate(tools, (asking, { path }) => answerArticle(asking, path)),
    explore: {
      articles: beside.list.answer,
      'articles.rss': beside.feed.answer,
      counts: operate(tools, answers.counts),
      coverage: serveBeside(tools, answers.completeness),
      copies: operate(tools, answers.copies),
      limits: answerLimits,
      // `matches` runs the search of the page again, so it costs a request, too.
      matches: operate(tools, asking => answerMatches(asking, cursorSecret)),
      related: operate(tools, answers.related),
      removals: serveBeside(tools, answers.removals),
      // Suggestions cost nothing, because a page asks for them after every key press.
      suggestions: serveBeside(tools, answerSuggestions),
      words: serveBeside(tools, answers.words),
    },
  }
}

/**
 * Runs an operation that goes with a search and takes no request from the quota of the month. When
 * the quota is used up, the operation is refused, as the search is.
 */
function serveBeside(tools: Tools, answer: (asking: Asking) => Promise<Content>): RequestHandler {
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

/** Bytes of compressed answers that a process keeps. */
const COMPRESSED_MEMORY = 16 * 2 ** 20

/** The parts and functions that operations need. */
export function toolsOf(parts: Parts, admissions: Admissions): Tools {
  const { config, log, index, semantic } = parts
  const asking = createAsking()
  const shares = createShares(asking)
  const permits = createSearchPermits(config)
  const questionPermits = createQuestionPermits(config, createShares(asking))
  const agentPermits = createAgentPermits(config, shares)
  const turns = createTurns(shares)
  const asks = (response: Response) => asking.note(accessOf(response).key.id)
  return {
    ...parts,
    asks,
    send: createSender(COMPRESSED_MEMORY),
    note: notesOf(log),
    withAgentPermit: <T>(response: Response, work: () => Promise<T>): Promise<T> =>
      withPermitOf(
        agentPermits,
        turns,
        async () => {},
        accessOf(response).key.id,
        leavesOf(response),
      )(work),
    searchesOf(response) {
      const pay = payOf(parts.pool, response)
      const { id } = accessOf(response).key
      const leaves = leavesOf(response)
      asks(response)
      return {
        index,
        semantic,
        get db() {
          return endingWith(parts.pool, leaves, ms => turns.charge(id, ms, leaves))
        },
        leaves,
        pay,
        state: response.locals.indexState,
        withPermit: withPermitOf(permits, turns, pay, id, leaves),
        withQuestionPermit: withPermitOf(questionPermits, turns, pay, id, leaves),
      }
    },
    async charge(response) {
      const start = performance.now()
      await chargeMonth(admissions, response)
      noteAccess(response, start)
    },
  }
}

export interface Tools extends Parts {
  send: Sender
  note: NoteError
  /** The index, and permits of the key, for the searches of a request. */
  searchesOf(response: Response): Searches
  withAgentPermit<T>(response: Response, work: () => Promise<T>): Promise<T>
  /** Notes that the key of a request asks, for the rests of others. */
  asks(response: Response): void
  /** Counts the request in the month of its key. */
  charge(response: Response): Promise<void>
}

type Operation<Body = Buffer> = (
  asking: Asking,
  request: Request,
  response: Response,
) => Promise<Answer<Body>>

async function askingOf(tools: Tools, request: Request, response: Response): Promise<Asking> {
  const { id, plan } = accessOf(response).key
  const searches = tools.searchesOf(response)
  const query = rawQueryOf(request.originalUrl)
  // Most requests name no set, and need no statements of their own.
  const rawQuery = namesIn(query).length === 0 ? query : await withSets(searches.db, id, query)
  return { searches, rawQuery, plan }
}

/**
 * Runs an operation. First it checks that the month has a request left, then the operation answers.
 * Only a good answer is charged. An answer that was kept may be charged already.
 */
function operate(tools: Tools, answer: Operation<TurnedBody>): RequestHandler {
  return async (request, response) => {
    const { paid } = response.locals
    if (paid === undefined) checkQuota(response)
    else tools.asks(response)
    const found = paid?.isOfPrimary()
      ? paid.answer
      : await answer(await askingOf(tools, request, response), request, response)
    response.locals.search = found.search
    response.locals.searchMs = found.searchMs
    await tools.send(request, response, found, () => tools.charge(response))
  }
}

export function noteAccess(response: Response, start: number): void {
  response.locals.accessMs = (response.locals.accessMs ?? 0) + performance.now() - start
}
