import type { Logger } from '../../../shared/log/logger.ts'
import { createOutageLog } from '../../../shared/log/outage.ts'
import type { Pool } from '../../../shared/postgres/pool.ts'
import { isTransient } from '../../../shared/postgres/transaction.ts'
import { changesBetween } from '../changes/reading.ts'
import { pagesCompared } from '../metrics.ts'
import { ComposeError, type Composer } from '../threads/composer.ts'
import { type ClaimedVersion, claimVersions, dropVersion, putBackVersion, saveComparison } from './versions.ts'

/** ms between two searches for versions. Nobody waits for them. */
const TICK = 2_000

interface Comparing {
  pool: Pool
  composer: Composer
  log: Logger
  /** CRAWL_RECHECK in ms. */
  recheck: number
}

/**
 * Compares the versions that looks have brought with those before, until it is closed. It begins
 * only while no stored page is due, because new articles come first. No message calls for it:
 * Postgres is asked every two seconds.
 */
export function startComparing(comparing: Comparing): { close(): Promise<void> } {
  const stopping = new AbortController()
  let timer: NodeJS.Timeout | undefined
  let running = Promise.resolve()
  const outage = createOutageLog(comparing.log, {
    begins: 'cannot compare versions of pages',
    ends: 'versions of pages are compared again',
  })
  const tick = async () => {
    try {
      // One at a time: new pages have the other threads.
      for (;;) {
        const [version] = stopping.signal.aborted ? [] : await claimVersions(comparing.pool, 1)
        if (version === undefined) break
        await compareVersion(comparing, version, stopping.signal)
      }
      outage.over()
    } catch (error) {
      outage.met(error)
    }
  }
  const next = () => {
    if (stopping.signal.aborted) return
    running = tick().then(() => {
      if (!stopping.signal.aborted) timer = setTimeout(next, TICK)
    })
  }
  next()
  return {
    async close() {
      stopping.abort()
      clearTimeout(timer)
      await running
    },
  }
}

/**
 * Compares one version. Its article stays as it is (decision 24): only the finding is stored.
 * Calling it twice leaves one finding.
 */
async function compareVersion(
  { pool, composer, log, recheck }: Comparing,
  version: ClaimedVersion,
  signal: AbortSignal,
): Promise<void> {
  const { page, before } = version
  try {
    const composition = await composer.inTurn(version.outletNo, compose => compose(page), signal)
    const reading = composition.kind === 'article' ? composition.reading : null
    if (reading === null) {
      await dropVersion(pool, version)
      pagesCompared.inc({ outcome: 'unreadable' })
      return
    }
    const changes = changesBetween(before, reading)
    if (!(await saveComparison(pool, version, reading, changes, recheck))) return
    pagesCompared.inc({ outcome: outcomeOf(changes) })
    if (changes.length > 0) log.info({ page: String(page.pageId), url: page.url, changes }, 'a page has changed')
  } catch (error) {
    if (signal.aborted || isTransient(error)) return await putBackVersion(pool, version)
    const failure = error instanceof ComposeError ? error.failure : 'error'
    const again = await dropFailed(pool, version)
    pagesCompared.inc({ outcome: `${again ? 'retry' : 'failed'}: ${failure}` })
    log.warn({ page: String(page.pageId), failure }, 'a version of a page could not be compared')
  }
}

const outcomeOf = (changes: string[]) =>
  changes.length === 0 ? 'same' : changes[0] === 'replaced' || changes[0] === 'modified' ? changes[0] : 'changed'

/** Tries of one version. Then it is dropped: the next look brings another. */
const MOST_TRIES = 2

async function dropFailed(pool: Pool, version: ClaimedVersion): Promise<boolean> {
  if (version.attempts + 1 < MOST_TRIES) return true // its claim runs out, and it is tried again
  await dropVersion(pool, version)
  return false
}
