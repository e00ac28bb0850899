import type { SearchIndex } from '../../search/index.ts'
import type { Logger } from '../../shared/log/logger.ts'
import { sentenceOf } from '../../shared/process/command.ts'
import { joinsOthers } from '../../shared/process/number.ts'

/** Whether a process that has just started is as fast as it will be. */
export interface WarmUp {
  isWarm(): boolean
  /** Whether it is warm, or was given long enough: it answers all the same, only slower. */
  isOver(): boolean
  /** Resolves when it is warm. */
  done: Promise<void>
  /** Resolves when it is warm, at the latest after `wait` ms. */
  soon(wait: number): Promise<void>
}

/** ms after which a process counts as ready though it is not warm. */
const WARM_UP_LIMIT = 10_000

/**
 * Reads ahead what searches need, until the index is closed.
 *
 * @param options.prepare prepares the statements that every request runs
 * @param options.limit ms after which the process counts as ready all the same
 */
export function startWarmUp(
  index: Pick<SearchIndex, 'warm'>,
  log: Logger,
  { prepare, limit = WARM_UP_LIMIT }: { prepare?: () => Promise<unknown>; limit?: number } = {},
): WarmUp {
  const start = performance.now()
  let warm = false
  const tell = (error: unknown) => log.debug({ err: sentenceOf(error) }, 'could not read ahead')
  const done = index
    .warm(tell, joinsOthers())
    .then(() => prepare?.().catch(tell))
    .then(() => {
      warm = true
      log.info({ ms: Math.round(performance.now() - start) }, 'warm')
    })
  return {
    done,
    isWarm: () => warm,
    isOver: () => warm || performance.now() - start > limit,
    async soon(wait) {
      let timer: NodeJS.Timeout | undefined
      const late = new Promise<void>(resolve => {
        timer = setTimeout(resolve, wait)
      })
      await Promise.race([done, late])
      clearTimeout(timer)
    },
  }
}
