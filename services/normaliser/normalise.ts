import type { Indexed, NewArticle } from '#search/types'
import type { Logger } from '#shared/log/logger'
import type { OutageLog } from '#shared/log/outage'
import { describe } from '#shared/log/printable'
import { warnOfSignals } from '#shared/outlets/rights'
import { isTransient, type Pool } from '#shared/postgres/pool'
import { withInHand } from '#shared/process/ends'
import type { Semaphore } from '#shared/resilience/semaphore'
import { isDisputed } from './claims.ts'
import type { Composition } from './compose.ts'
import { ComposeError, type Composer } from './composer.ts'
import type { ServedTexts } from './interstitials/served.ts'
import { observeArticle, pagesNormalised } from './metrics.ts'
import type { Batcher } from './pages/batcher.ts'
import { type DonePage, finishFailed, finishRefused, giveBack } from './pages/finish.ts'
import { loadPage, outletOf } from './pages/load.ts'
import { teaches } from './template.ts'

/** An article with its page, before both are stored. */
export interface Finished {
  article: NewArticle
  page: DonePage
}

/** The parts that the stages of the normaliser share. */
export interface Normaliser {
  pool: Pool
  log: Logger
  /** The outage of Postgres, during which pages wait. */
  outage: OutageLog
  composer: Composer
  /** One permit for each page in memory, from its loading to the end of its batch. */
  pagesInMemory: Semaphore
  served: ServedTexts
  index: Batcher<Finished, Indexed>
}

/**
 * Makes an article of a stored page, or refuses the page. A page that fails is tried again or put
 * into quarantine. Resolves when Postgres holds the result. Two calls leave one result.
 *
 * @param signal aborted when the service stops: a page without a thread is then due again at once
 */
export async function normalisePage(
  normaliser: Normaliser,
  pageNo: bigint,
  signal: AbortSignal,
): Promise<void> {
  const { pool, log, outage } = normaliser
  try {
    const outletNo = await outletOf(pool, pageNo)
    if (outletNo === null) return
    const composed = await compose(normaliser, pageNo, outletNo, signal)
    if (composed === null) return
    const end = await withInHand(held(pageNo), () => bringToEnd(normaliser, composed)).finally(
      composed.release,
    )
    outage.over()
    pagesNormalised.inc({ outcome: end.outcome })
    log.info({ page: String(pageNo), url: composed.url, ...end }, 'normalised')
  } catch (error) {
    if (signal.aborted) return await giveBack(pool, [pageNo])
    // The page is still stored. The sweeper calls it again when Postgres answers.
    if (isTransient(error)) return outage.met(error)
    const { failure, message } =
      error instanceof ComposeError
        ? error
        : { failure: 'indexing' as const, message: describe(error) }
    const again = await finishFailed(pool, pageNo, { failure, message })
    pagesNormalised.inc({ outcome: `${again ? 'retry' : 'failed'}: ${failure}` })
    log.warn(
      { page: String(pageNo), failure, err: message },
      again ? 'a page failed' : 'a page is put into quarantine',
    )
  }
}

const held = (pageNo: bigint) => ({ kind: 'page' as const, numbers: [pageNo] })

/** A page with its article or its refusal, before either is stored. */
interface Composed {
  pageNo: bigint
  outletNo: number
  url: string
  composition: Composition
  /** Whether the template of the outlet learns the page's lines. */
  teaches: boolean
  /** The fingerprint of the text on the page itself. */
  fingerprint: Uint8Array | null
  /** Returns the page's permit. */
  release(): void
}

/**
 * Loads and composes a page when its outlet has its turn. Until then, memory holds only the number
 * of the page. A composed page keeps its permit until it is stored. Null: another process has
 * finished the page.
 */
function compose(
  { pool, composer, served, pagesInMemory }: Normaliser,
  pageNo: bigint,
  outletNo: number,
  signal: AbortSignal,
): Promise<Composed | null> {
  return composer.inTurn(
    outletNo,
    composePage =>
      withInHand(held(pageNo), async () => {
        const release = await pagesInMemory.acquire()
        let composed: Composed | null = null
        let fingerprint: Uint8Array | null = null
        try {
          const loaded = await loadPage(pool, pageNo)
          if (loaded === null) return null
          const { page, template, taught } = loaded
          const first = await composePage(page, { template })
          if (first.kind === 'article') fingerprint = first.fingerprint
          const repeated =
            first.kind === 'article' &&
            fingerprint !== null &&
            (await served.isRepeated({ outletNo, pageNo, titled: first.titled, fingerprint }))
          const disbelieved =
            first.kind === 'article' &&
            first.claim !== null &&
            (await isDisputed(pool, outletNo, first.claim))
          const composition =
            repeated || disbelieved
              ? await composePage(page, { repeated, disbelieved, template })
              : first
          composed = {
            pageNo,
            outletNo,
            url: page.url,
            composition,
            fingerprint,
            release,
            teaches: teaches(pageNo, taught),
          }
          return composed
        } finally {
          if (composed === null) {
            release()
            if (fingerprint !== null) served.forget({ outletNo, pageNo, fingerprint })
          }
        }
      }),
    signal,
  )
}

async function bringToEnd(
  { pool, log, served, index }: Normaliser,
  { pageNo, outletNo, composition, fingerprint, teaches }: Composed,
): Promise<{ outcome: string; article?: string }> {
  try {
    if (composition.kind === 'refused') {
      warnOfSignals(log, await finishRefused(pool, { pageNo, outletNo }, composition))
      return { outcome: `refused: ${composition.reason}` }
    }
    const { article, interstitial, origins, rights } = composition
    const bounds = { bounded: article.snippet !== undefined, vector: rights.wordsAloneBy === null }
    const lesson = teaches ? composition.lesson : null
    const indexed = await index.add({
      article: { ...article, pageNo, rights: bounds },
      page: { pageNo, outletNo, interstitial, fingerprint, origins, lesson, rights },
    })
    if (indexed.outcome === 'indexed') observeArticle(article)
    return { outcome: indexed.outcome, article: indexed.id }
  } finally {
    if (fingerprint !== null) served.forget({ outletNo, pageNo, fingerprint })
  }
}
