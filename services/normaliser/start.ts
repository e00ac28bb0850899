import { openIndexer, renewNames } from '#search/indexer'
import { BATCH, openArticleWriter } from '#search/indexing/writer'
import type { ArticleWriter, Indexed, Indexer } from '#search/types'
import type { Config } from '#shared/config/config'
import { openCopyGroups } from '#shared/copies/pass'
import type { Logger } from '#shared/log/logger'
import { createOutageLog } from '#shared/log/outage'
import { describe } from '#shared/log/printable'
import { CALLED_AT_ONCE, outletsOf } from '#shared/outlets/page'
import { type NewSignal, warnOfSignals } from '#shared/outlets/rights'
import { readStops, stopsInWords } from '#shared/outlets/stopped-pages'
import { isTransient, type Pool, readColumn } from '#shared/postgres/pool'
import { SEGMENT_THREAD, segmentEvents } from '#shared/postgres/segment-thread'
import { type Repeated, repeatEvery } from '#shared/process/repeat'
import type { RunningService, ServiceContext } from '#shared/process/service'
import type { Queues } from '#shared/queues/queues'
import { boundAlone } from '#shared/removals/bounding'
import { waitsLong } from '#shared/removals/list'
import { createSemaphore } from '#shared/resilience/semaphore'
import { withTimeLimit } from '#shared/resilience/time-limit'
import { openWorker } from '#status/cause-watch'
import { composerOptions, openComposer } from './composer.ts'
import { openServedTexts } from './interstitials/served.ts'
import { batchSeconds, looksJudged } from './metrics.ts'
import { type Finished, type Normaliser, normalisePage } from './normalise.ts'
import { createBatcher } from './pages/batcher.ts'
import { finishDone, forgetPages, giveBack } from './pages/finish.ts'
import { type Judging, judgeAnswer } from './second-looks.ts'

/*
 * Postgres decides which pages are due, and queues carry only their numbers. Threads compose
 * articles; this thread writes them in batches. A page whose message is lost is called again.
 */

/** ms that the first article of a batch waits for others. Composing a page takes about as long. */
const BATCH_WAIT = 50
/**
 * The most characters of text in a batch. This thread serialises them for Postgres, and must stay
 * responsive meanwhile.
 */
const BATCH_WEIGHT = 150_000
/**
 * ms after which another process gets the pages of a killed process. The event loop renews the lock
 * after half of this time. It can do so in time, because nothing blocks it for long. If two
 * processes normalise a page, there is still one article.
 */
const LOCK = 10_000
/**
 * The most messages that are processed at a time. They are far more than the threads, because the
 * fair queue can only choose among pages that wait in it. An outlet has at most `CALLED_AT_ONCE`
 * pages there. Memory holds only the number of a waiting page.
 */
const IN_HAND = 1_000
/** ms for which a look or a rewriting may go on after that. Each can be done again. */
const LATE = 3_000
/** ms for which pages may continue when the service stops. After that they are returned. */
const GRACE = 10_000

/**
 * Starts to make articles of stored pages. `main.ts` runs this as a service, and the benchmark runs
 * it to measure its time.
 */
export async function startNormaliser({ config, log }: ServiceContext): Promise<RunningService> {
  const { pool, queues, watch } = openWorker('normaliser', { config, log })
  const composer = openComposer(composerOptions(config))
  const indexer = openIndexer(pool, SEGMENT_THREAD, segmentEvents(log))
  const writer = openArticleWriter({ pool, indexer, embedDelay: config.EMBED_DELAY })
  const normaliser: Normaliser = {
    pool,
    log,
    composer,
    pagesInMemory: createSemaphore(config.NORMALISE_THREADS * 8 + 8),
    outage: createOutageLog(log, 'pages have to wait', 'pages are finished again'),
    served: openServedTexts(pool),
    index: createBatcher(
      { items: BATCH, weight: BATCH_WEIGHT, wait: BATCH_WAIT },
      weightOf,
      finished => indexBatch(writer, log, finished),
      isTransient,
    ),
  }
  void tellStops(pool, config, log)
  // A process of a former version may have folded names until it ended. The next start tries again.
  const renewing = new AbortController()
  void renewNames(pool, renewing.signal).catch(error => {
    log.warn({ detail: describe(error) }, 'names of former versions were not folded again')
  })
  const work = takePages(normaliser, queues)
  const sweeper = startSweeper(pool, queues, log)
  const copies = startCopies(pool, log)
  const looks = startLooks({ pool, config, composer }, log)
  const rewriting = startRewriting(pool, indexer, log)
  const { missing, causes } = watch()
  return {
    async stop() {
      renewing.abort()
      await causes.close()
      await copies.close()
      const others = Promise.all([looks.close(), rewriting.close()])
      await sweeper.close()
      await work.stop()
      await composer.close()
      await queues.close().catch(() => {})
      await indexer.close()
      await withTimeLimit(others, LATE, () => {})
      await pool.end()
    },
    missing,
  }
}

/** Logs at the start how many pages `RIGHTS_TDM` stops, or that the database cannot be read. */
async function tellStops(
  pool: Pool,
  config: Pick<Config, 'RIGHTS_TDM'>,
  log: Logger,
): Promise<void> {
  try {
    const sentence = stopsInWords(await readStops(pool), config)
    if (sentence !== null) log.warn(sentence)
  } catch (error) {
    // The first line of the service warns that Postgres is away.
    log.info(
      { detail: describe(error) },
      'what RIGHTS_TDM stops is not known now; `npm run outlets -- rights` tells',
    )
  }
}

const weightOf = ({ article }: Finished) => article.title.length + (article.body?.length ?? 0)

/** Indexes at most `BATCH` articles and marks their pages as done, in one transaction. */
export async function indexBatch(
  writer: ArticleWriter,
  log: Logger,
  finished: Finished[],
): Promise<Indexed[]> {
  const measured = batchSeconds.startTimer()
  let signals: NewSignal[] = []
  const articles = finished.map(({ article }) => article)
  const results = await writer.write(articles, {
    async within(client, outcomes) {
      const isRemoved = (at: number) => outcomes[at]?.outcome === 'removed'
      await forgetPages(
        client,
        finished.flatMap(({ page }, at) => (isRemoved(at) ? [page.pageNo] : [])),
      )
      signals = await finishDone(
        client,
        finished.flatMap(({ page }, at) => {
          if (isRemoved(at)) return []
          // A known article has arrived again. Its text must not count as served twice.
          return outcomes[at]?.outcome === 'indexed'
            ? page
            : { ...page, fingerprint: null, origins: null, lesson: null }
        }),
      )
    },
  })
  warnOfSignals(log, signals)
  measured()
  return results
}

/** Normalises the pages that the queue names. On stop, pages that take too long are returned. */
function takePages(normaliser: Normaliser, queues: Queues): { stop(): Promise<void> } {
  const { pool, log, composer } = normaliser
  const inHand = new Set<bigint>()
  const worker = queues.work(
    'normalise',
    async ({ pageNo }, signal) => {
      const no = BigInt(pageNo)
      inHand.add(no)
      await normalisePage(normaliser, no, signal).finally(() => inHand.delete(no))
    },
    { concurrency: IN_HAND, lockDuration: LOCK },
  )
  const giveUp = async () => {
    log.warn({ pages: inHand.size }, 'pages in hand are given back')
    await Promise.allSettled([composer.close(), giveBack(pool, [...inHand])])
    await worker.close(true)
  }
  return { stop: () => withTimeLimit(worker.close(), GRACE, giveUp) }
}

/** ms between two searches for articles whose group of copies is unknown. */
const COPIES_TICK = 2_000
/**
 * The share of the time that the work on a long backlog may take, because pages and imports need
 * the same processors.
 */
const COPIES_SHARE = 0.5

function startCopies(pool: Pool, log: Logger): Repeated {
  const outage = createOutageLog(log, 'cannot group copies', 'copies are grouped again')
  const groups = openCopyGroups(pool)
  return repeatEvery(COPIES_TICK, closing => groups.pass(closing, COPIES_SHARE), { outage })
}

/** ms between two searches for answers of pages that were asked for again. */
const LOOKS_TICK = 10_000
/** ms until the first one: what waits at a start comes first. */
const FIRST_LOOKS = 30_000

function startLooks(judging: Omit<Judging, 'write' | 'signal'>, log: Logger): Repeated {
  const outage = createOutageLog(log, 'cannot judge second looks', 'second looks are judged again')
  const write: Judging['write'] = async bounds => void (await boundAlone(judging.pool, bounds))
  const work = async (signal: AbortSignal) => {
    for (let more = true; more && !signal.aborted; ) {
      const judged = await judgeAnswer({ ...judging, write, signal })
      more = judged !== null
      if (judged === null) continue
      const { id, word, deed } = judged
      looksJudged.inc({ word, deed })
      if (deed !== 'none') log.info({ article: id, word, deed }, 'judged a second look')
    }
  }
  return repeatEvery(LOOKS_TICK, work, { first: FIRST_LOOKS, outage })
}

/** ms between two searches for segments that have words of articles that were taken out. */
const REWRITE_TICK = 600_000

function startRewriting(pool: Pool, indexer: Pick<Indexer, 'finish'>, log: Logger): Repeated {
  const outage = createOutageLog(log, 'segments are not looked at', 'segments are looked at again')
  const work = async () => (await waitsLong(pool)) && indexer.finish('due')
  return repeatEvery(REWRITE_TICK, work, { first: REWRITE_TICK, outage })
}

const TICK = 1_000
/** ms after which an unfinished page is called again, because its message may be lost. */
const CALL = 60_000
const MOST_AT_ONCE = 500
/**
 * ms after its storing in which a page needs no call, because the crawler has sent a message for
 * it.
 */
const OWN_MESSAGE = 2_000

/**
 * Calls due stored pages, every second, until it is closed. Messages in the queues may be lost, but
 * Postgres knows which pages are due.
 */
export function startSweeper(pool: Pool, queues: Pick<Queues, 'add'>, log: Logger): Repeated {
  const outage = createOutageLog(log, 'cannot call stored pages', 'stored pages are called again')
  let limit = MOST_AT_ONCE
  const sweep = async () => {
    const due = await callDuePages(pool, limit)
    const messages = due.map(pageNo => ({ key: String(pageNo), data: { pageNo: String(pageNo) } }))
    try {
      await queues.add('normalise', messages)
    } catch (error) {
      // The queues do not answer. From now on, a single page tests whether they answer again.
      // `giveBack` lets the called pages wait for `OWN_MESSAGE` ms instead of `CALL` ms.
      limit = 1
      await giveBack(pool, due)
      throw error
    }
    limit = MOST_AT_ONCE
  }
  return repeatEvery(TICK, sweep, { outage })
}

/**
 * Marks due pages as called and returns them, with outlets in turn. Only one normaliser calls a
 * page, even when several do this at the same time. At most `CALLED_AT_ONCE` pages of an outlet are
 * called at a time, so that other outlets do not wait long.
 */
export const callDuePages = (pool: Pool, limit: number = MOST_AT_ONCE): Promise<bigint[]> =>
  readColumn<bigint>(
    pool,
    // Index: pages_stored_turns.
    `with recursive ${outletsOf("state = 'stored'")}, due as (
       select d.page_no, row_number() over (partition by outlet_no order by next_try_at, page_no) as place
         from outlet o, lateral (
           select count(*) as pages
             from (select from pages where state = 'stored' and outlet_no = o.outlet_no
                      and next_try_at > clock_timestamp() - $1 * interval '1 ms' limit $4) c) called,
         lateral (
           select page_no, next_try_at from pages
            where state = 'stored' and outlet_no = o.outlet_no and next_try_at <= clock_timestamp() - $1 * interval '1 ms'
            order by next_try_at limit $4 - called.pages) d
     ), chosen as (
       select page_no from pages
        where page_no in (select page_no from due order by place limit $2) and state = 'stored'
          and next_try_at <= clock_timestamp() - $1 * interval '1 ms'
          for update skip locked
     ), called as (
       update pages p set next_try_at = clock_timestamp() + $3 * interval '1 ms'
         from chosen where p.page_no = chosen.page_no
     )
     select page_no from chosen join due using (page_no) order by place`,
    [OWN_MESSAGE, limit, CALL, CALLED_AT_ONCE],
  )
