import type { Indexed, NewArticle } from '../../shared/indexing/new-article.ts'
import type { Logger } from '../../shared/log/logger.ts'
import type { Trouble } from '../../shared/log/trouble.ts'
import type { Pool } from '../../shared/postgres/pool.ts'
import { isTransient } from '../../shared/postgres/transaction.ts'
import type { Batcher } from './batches/batcher.ts'
import type { Composition } from './compose/article.ts'
import { observeArticle, pagesNormalised, wallsMet } from './metrics.ts'
import { type DonePage, finishFailed, finishRefused, giveBack } from './pages/finish.ts'
import { type LoadedPage, loadPage } from './pages/load.ts'
import { ComposeError, type Composer } from './threads/composer.ts'
import type { ServedTexts } from './walls/served.ts'

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
  trouble: Trouble
  composer: Composer
  served: ServedTexts
  index: Batcher<Finished, Indexed>
}

/**
 * Brings one stored page to its end: an article in the index, a refusal, or a failure that is tried again or put into
 * quarantine. Resolves when that stands in Postgres. Done twice, it leaves one result.
 *
 * @param signal aborted when the service stops: pages without a thread are given back
 */
export async function normalisePage(normaliser: Normaliser, pageNo: bigint, signal: AbortSignal): Promise<void> {
  const { pool, log, trouble } = normaliser
  try {
    const loaded = await loadPage(pool, pageNo)
    if (loaded === null) return
    const end = await bringToEnd(normaliser, loaded, signal)
    trouble.over()
    pagesNormalised.inc({ outcome: end.outcome })
    log.info({ page: String(pageNo), url: loaded.page.url, ...end }, 'normalised')
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

async function bringToEnd(
  normaliser: Normaliser,
  { page, outletNo }: LoadedPage,
  signal: AbortSignal,
): Promise<{ outcome: string; article?: string }> {
  const { pool, composer, served, index } = normaliser
  const pageNo = page.pageId
  let composition: Composition = await composer.compose(page, { signal })
  const fingerprint = composition.kind === 'article' ? composition.fingerprint : null
  try {
    if (composition.kind === 'article' && fingerprint !== null) {
      if (await served.isRepeated({ outletNo, pageNo, titled: composition.titled, fingerprint })) {
        composition = await composer.compose(page, { repeated: true, signal })
      }
    }
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
