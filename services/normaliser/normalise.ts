import type { Indexed, NewArticle } from '../../shared/indexing/new-article.ts'
import type { Logger } from '../../shared/log/logger.ts'
import type { OutageLog } from '../../shared/log/outage.ts'
import type { Pool } from '../../shared/postgres/pool.ts'
import { isTransient } from '../../shared/postgres/transaction.ts'
import type { Batcher } from './batches/batcher.ts'
import type { Composition } from './compose/article.ts'
import type { ServedTexts } from './interstitials/served.ts'
import { observeArticle, pagesNormalised, wallsMet } from './metrics.ts'
import { type DonePage, finishFailed, finishRefused, giveBack } from './pages/finish.ts'
import { loadPage, outletOf } from './pages/load.ts'
import { ComposeError, type Composer } from './threads/composer.ts'
import type { Room } from './threads/room.ts'

/** An article and the page it came from, on their way into the index. */
export interface Finished {
  article: NewArticle
  page: DonePage
}

/** What the stages of the normaliser work with. */
export interface Normaliser {
  pool: Pool
  log: Logger
  /** Met when pages have to wait for Postgres. */
  trouble: OutageLog
  composer: Composer
  /** For pages that are loaded, until their batch is through. */
  room: Room
  served: ServedTexts
  index: Batcher<Finished, Indexed>
}

/**
 * Brings one stored page to its end: an article in the index, a refusal, or a failure that is tried
 * again or put into quarantine. Resolves when that stands in Postgres. Done twice, it leaves one
 * result.
 *
 * @param signal aborted when the service stops: pages without a thread are given back
 */
export async function normalisePage(normaliser: Normaliser, pageNo: bigint, signal: AbortSignal): Promise<void> {
  const { pool, log, trouble, room } = normaliser
  try {
    const outletNo = await outletOf(pool, pageNo)
    if (outletNo === null) return
    const composed = await composeInTurn(normaliser, pageNo, outletNo, signal)
    if (composed === null) return
    const end = await bringToEnd(normaliser, composed).finally(room.leave)
    trouble.over()
    pagesNormalised.inc({ outcome: end.outcome })
    log.info({ page: String(pageNo), url: composed.url, ...end }, 'normalised')
  } catch (error) {
    if (signal.aborted) return await giveBack(pool, [pageNo])
    // Still stored: the sweeper calls it again when Postgres answers.
    if (isTransient(error)) return trouble.met(error)
    const { failure, message } =
      error instanceof ComposeError ? error : { failure: 'indexing' as const, message: messageOf(error) }
    const again = await finishFailed(pool, pageNo, { failure, message })
    pagesNormalised.inc({ outcome: `${again ? 'retry' : 'failed'}: ${failure}` })
    log.warn({ page: String(pageNo), failure, err: message }, again ? 'a page failed' : 'a page is put into quarantine')
  }
}

/** A page that was taken apart, on its way to its end. */
interface Composed {
  pageNo: bigint
  outletNo: number
  url: string
  composition: Composition
  /** Of the text that the page itself served. */
  fingerprint: Uint8Array | null
}

/**
 * Loads and composes a page in its outlet's turn: of those that wait, nothing but the number is in
 * memory. What is composed has a place in the room until it is through. Null: somebody else has
 * finished it.
 */
function composeInTurn(
  { pool, composer, served, room }: Normaliser,
  pageNo: bigint,
  outletNo: number,
  signal: AbortSignal,
): Promise<Composed | null> {
  return composer.inTurn(
    outletNo,
    async compose => {
      await room.enter()
      let composed: Composed | null = null
      let fingerprint: Uint8Array | null = null
      try {
        const loaded = await loadPage(pool, pageNo)
        if (loaded === null) return null
        const { page } = loaded
        const first = await compose(page)
        if (first.kind === 'article') fingerprint = first.fingerprint
        const repeated =
          first.kind === 'article' &&
          fingerprint !== null &&
          (await served.isRepeated({ outletNo, pageNo, titled: first.titled, fingerprint }))
        const composition = repeated ? await compose(page, { repeated }) : first
        composed = { pageNo, outletNo, url: page.url, composition, fingerprint }
        return composed
      } finally {
        if (composed === null) {
          room.leave()
          if (fingerprint !== null) served.forget({ outletNo, pageNo, fingerprint })
        }
      }
    },
    signal,
  )
}

async function bringToEnd(
  { pool, served, index }: Normaliser,
  { pageNo, outletNo, composition, fingerprint }: Composed,
): Promise<{ outcome: string; article?: string }> {
  try {
    if (composition.wall !== null) wallsMet.inc({ kind: composition.wall })
    if (composition.kind === 'refused') {
      await finishRefused(pool, { pageNo, outletNo }, composition)
      return { outcome: `refused: ${composition.reason}` }
    }
    const { article, wall } = composition
    const indexed = await index.add({
      article: { ...article, pageNo },
      page: { pageNo, outletNo, wall, fingerprint },
    })
    if (indexed.outcome === 'indexed') observeArticle(article)
    return { outcome: indexed.outcome, article: indexed.id }
  } finally {
    if (fingerprint !== null) served.forget({ outletNo, pageNo, fingerprint })
  }
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))
