import { writeSync } from 'node:fs'
import { type DestinationStream, type Logger, pino, symbols } from 'pino'
import { counter } from '../metrics.ts'
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
export const createLogger = (service: string, level: string, number: string | null = null): Logger =>
  pino(
    {
      level,
      base: number === null ? { service } : { service, process: number },
      mixin: () => ({ ...logContext() }),
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: label => ({ level: label }) },
      redact: ['headers.authorization', 'req.headers.authorization'],
    },
    createDestination(),
  )

/** Loggers whose lines may wait. */
const patientLoggers = new WeakSet<object>()

/**
 * A logger for lines that come by the thousand and tell of no failure: they wait up to a tenth of a
 * second, and are written together. Any other line takes those before it along, so the order stays.
 */
export function patientLogger(log: Logger): Logger {
  const patient = log.child({})
  patientLoggers.add(patient)
  return patient
}

/** Writes what waits, of every logger of this process. */
const flushes = new Set<() => void>()
process.on('exit', () => {
  for (const flush of flushes) flush()
})

/** ms */
const PATIENCE = 100
/** Characters that may wait. */
const MOST_WAITING = 32_768

/**
 * Writes lines so that they can be shown: JSON leaves C1 controls and marks of direction as they
 * are, and a terminal that shows the log would obey them.
 */
function createDestination(): DestinationStream {
  let waiting = ''
  let timer: NodeJS.Timeout | null = null

  function flush(): void {
    if (timer !== null) clearTimeout(timer)
    timer = null
    if (waiting === '') return
    const lines = printable(waiting)
    waiting = ''
    write(lines)
  }
  flushes.add(flush)

  const lines = {
    // With this, pino says whose line it writes.
    [symbols.needsMetadataGsym]: true,
    lastLogger: {},
    write(line: string) {
      waiting += line
      if (!patientLoggers.has(lines.lastLogger) || waiting.length > MOST_WAITING) flush()
      else timer ??= setTimeout(flush, PATIENCE).unref()
    },
  }
  return lines
}

const linesLost = counter('log_lines_lost_total', 'Lines of the log that could not be written, as on a full disk.')
const STDERR = 2
/** ms for which a reader of the log that does not keep up is waited for. */
const SLOW_READER = 100
let isTorn = false

/** Writes lines at once. What cannot be written is counted: the log is never worth an end. */
function write(lines: string): void {
  // What a full disk took of the lines before does not run into these.
  let bytes = Buffer.from(isTorn ? `\n${lines}` : lines)
  const end = performance.now() + SLOW_READER
  while (bytes.length > 0) {
    try {
      bytes = bytes.subarray(writeSync(STDERR, bytes))
      isTorn = false
    } catch (error) {
      const isFull = error instanceof Error && 'code' in error && error.code === 'EAGAIN'
      if (isFull && performance.now() < end) {
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1)
        continue
      }
      linesLost.inc(lines.split('\n').length - 1)
      isTorn = true
      return
    }
  }
}
