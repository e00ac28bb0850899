import { type DestinationStream, type Logger, pino } from 'pino'
import { logContext } from './context.ts'
import { printable } from './printable.ts'

export type { Logger }

/**
 * JSON lines on standard error: standard output is for data. `service` stands on every line, and
 * the job or request in hand (`context.ts`). `page` is the number of a page and stays with its
 * article to the end, `article` the article's id.
 *
 * @param number of a process that shares a service with others: `process` on every line
 */
export function createLogger(service: string, level: string, number: string | null = null): Logger {
  return pino(
    {
      level,
      base: number === null ? { service } : { service, process: number },
      mixin: () => ({ ...logContext() }),
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: label => ({ level: label }) },
      redact: ['headers.authorization', 'req.headers.authorization'],
    },
    printed(pino.destination({ fd: 2, sync: true })),
  )
}

/**
 * JSON leaves C1 controls and marks of direction as they are. A terminal that shows the log would
 * obey them.
 */
const printed = (destination: DestinationStream): DestinationStream => ({
  write: line => destination.write(printable(line)),
})
