import type { RequestHandler } from 'express'
import { WORD_RULES } from '#search/analysis/index'
import { accessOf, checkQuota, refuseStranger } from '#services/api/access/access'
import { COSTS } from '#services/api/access/costs'
import { lockAddress } from '#services/api/access/lock'
import type { Permits } from '#services/api/access/permits'
import {
  countArticles,
  findArticles,
  type PlannedRequest,
  paid,
  plannedOf,
  type Searches,
} from '#services/api/articles/find'
import type { Cursor } from '#services/api/contract/cursor'
import { ApiError, invalid } from '#services/api/contract/errors'
import { readSearch } from '#services/api/contract/request'
import { needed, readDescribed } from '#services/api/desk/described'
import { readPlace } from '#services/api/desk/place'
import { sendOnce } from '#services/api/http/answer'
import { readMembers, refuseParameters } from '#services/api/http/body'
import {
  type Citation,
  CitedRemoved,
  findCitation,
  keepCitation,
  type NewCitation,
  removedOn,
} from '#shared/desk/citations'
import { removedSentence } from '#shared/desk/cited-removals'
import { withSets } from '#shared/desk/outlet-sets'
import { biasVersion } from '#shared/embeddings/bias'
import type { Plan } from '#shared/plans/keys'
import type { Reach } from '#shared/plans/reach'
import type { Pool, Queryable } from '#shared/postgres/pool'
import {
  CITED_PAGE,
  citationDigest,
  citedSearch,
  collectCited,
  headOf,
  MOST_CITED,
} from './citation.ts'
import { type FileParts, sendArticles } from './files.ts'
import { addressOf, citationObject, removedOf, type Told, toldOf } from './page.ts'

/*
 * A citation is a search, its watermark and a digest of the articles that it found. The articles
 * are not copied: page and files show them from the index. The digest proves that no article is
 * missing or changed.
 */

/** The page of a citation, and the files of its articles. */
export const CITE_PAGE: RegExp = /^\/cite\/[0-9a-f]{64}$/
export const CITE_FILE: RegExp = /^\/cite\/[0-9a-f]{64}\.(?:json|csv|bib|ris)$/

/** The parts of the API that the handlers need. */
interface CitingParts extends FileParts {
  pool: Pool
  /** Permits for pages, which anybody may open. */
  strangers: Permits
  serviceName: string
  model: string
  /** The explorer's page with the content of a citation; null: without any. */
  page(told: Told | null): Promise<string>
}

/** How often a search is cited while an operator takes out some of its articles. */
const TRIES = 5

/** The handlers that make a citation, show its page, and send its articles. */
export function citing(parts: CitingParts): Record<'make' | 'page' | 'file', RequestHandler> {
  const find = (db: Queryable, path: string): Promise<Citation | null> =>
    findCitation(db, path.slice('/cite/'.length).slice(0, 64))
  const told = async (citation: Citation) => {
    const { digest, articles, removedAt } = citation
    return removedAt === null
      ? toldOf(citation, parts, await removedSentence(parts.pool, digest, articles))
      : removedOf(digest, removedAt)
  }
  return {
    async make(request, response) {
      response.set('Cache-Control', 'no-store').vary('Authorization')
      refuseParameters(request, NO_PARAMETERS)
      const { search } = readMembers(request, ['search'])
      checkQuota(response)
      const { key } = accessOf(response)
      const searches = parts.searchesOf(response)
      const words = await withSets(searches.db, key.id, needed(search))
      const keep = async (of: Searches, tries: number): ReturnType<typeof keepCitation> => {
        const { made, ...cited } = await cite(parts, of, words, key.plan)
        return keepCitation(searches.db, key.id, made, cited).catch(error => {
          if (!(error instanceof CitedRemoved) || tries === 1) throw error
          // The first try has paid.
          return keep({ ...paid(searches), pay: async () => {} }, tries - 1)
        })
      }
      const done = await keep(searches, TRIES)
      // The key was revoked while the request ran.
      if (done === null) throw new ApiError('invalid_token')
      await parts.charge(response)
      response.status(done.isNew ? 201 : 200).location(addressOf(done.citation))
      response.json({ status: 'ok', ...citationObject(done.citation, parts.publicUrl) })
    },
    async page(request, response, next) {
      refuseParameters(request, NO_PARAMETERS)
      const address = lockAddress(request)
      const read = async () => {
        const citation = await find(parts.pool, request.path)
        return { citation, content: citation && (await told(citation)) }
      }
      const { citation, content } = await parts.strangers
        .take(`cite ${address}`, read)
        .catch(refuseStranger)
      const isForPeople = request.accepts(['application/json', 'text/html']) === 'text/html'
      response.vary('Accept').set('Cache-Control', 'no-cache')
      const isThere = citation !== null && citation.removedAt === null
      if (!isThere && !isForPeople) return next(noCitation(citation))
      if (!isThere) response.status(404)
      await sendOnce(request, response, 'text/html; charset=utf-8', await parts.page(content))
    },
    async file(request, response) {
      refuseParameters(request, NO_PARAMETERS)
      checkQuota(response)
      const searches = parts.searchesOf(response)
      const citation = await find(searches.db, request.path)
      if (citation === null || citation.removedAt !== null) throw noCitation(citation)
      await sendArticles(parts, searches, citation, request, response)
    },
  }
}

const noCitation = (citation: Citation | null) => {
  const at = citation?.removedAt ?? null
  const message = at === null ? 'There is no citation at this address.' : removedOn(at)
  return new ApiError('not_found', { message })
}

const NO_PARAMETERS = 'A citation takes no parameters.'

/**
 * Finds all articles that a search has now, in one snapshot.
 *
 * @throws ApiError
 */
async function cite(parts: CitingParts, searches: Searches, search: string, plan: Plan) {
  const { model, serviceName } = parts
  const request = readSearch(readDescribed(search, null, plan, serviceName).search, 'feed')
  const planned = plannedOf({ ...request, perPage: CITED_PAGE }, plan)
  const { at: asOf, state, history } = await readPlace(searches.db)
  const frozen = { ...searches, state }
  const byMeaning = request.question.search === 'semantic'
  if (!byMeaning) await payOrRefuse(frozen, planned)
  // The pages find what was counted and paid.
  const pages = paid(frozen)
  const page = (at: Cursor['at'] | null) => findArticles(pages, planned, at)
  const articles = await collectCited(page, searches.withPermit)
  const reach: Reach = { countries: plan.countries, since: planned.historyStart }
  const head = headOf(citedSearch(request), reach)
  const lines = articles.map(({ line }) => line)
  const made: NewCitation = {
    digest: await searches.withPermit(pace => citationDigest(pace, head, lines)),
    search: citedSearch(request),
    ...reach,
    watermark: state.lastSeq,
    asOf,
    rules: WORD_RULES,
    model: byMeaning ? model : null,
    bias: byMeaning ? biasVersion(model) : null,
  }
  return { made, articles, history }
}

async function payOrRefuse(searches: Searches, planned: PlannedRequest): Promise<void> {
  const { counts } = await countArticles(searches, planned, { by: 'country' })
  if (counts.total <= MOST_CITED) return searches.pay(counts.total / COSTS.cited)
  const sentence = `It finds ${counts.total} articles, and a citation has at most ${MOST_CITED}; narrow the search.`
  throw invalid('search', sentence)
}
