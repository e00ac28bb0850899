import { writeSync } from 'node:fs'
import { type DestinationStream, type Logger, pino, symbols } from 'pino'
import { counter } from '#shared/metrics'
import { logContext } from './context.ts'
import { printable } from './printable.ts'

export type { Logger }

/**
 * Writes JSON lines to standard error, because standard output is for data. Every line has the
 * `service`, and the ids of the running job or request (`context.ts`). `page` is the number of a
 * page. Lines about an article that was made of a page have the number too. `article` is the
 * article's id.
 *
 * @param number tells processes of the same service apart; every line has it as `process`
 */
export const createLogger = (
  service: string,
  level: string,
  number: string | null = null,
): Logger =>
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

/** Loggers whose lines are written later. */
const patientLoggers = new WeakSet<object>()

/**
 * A logger for frequent lines that report no failure. Its lines wait up to a tenth of a second, and
 * are then written together. A line of another logger is written after the waiting ones, so the
 * order stays.
 */
export function patientLogger(log: Logger): Logger {
  const patient = log.child({})
  patientLoggers.add(patient)
  return patient
}

/** Functions that write waiting lines, one for each logger of this process. */
const flushes = new Set<() => void>()
process.on('exit', () => {
  for (const flush of flushes) flush()
})

/** The longest time that a line waits, in ms. */
const PATIENCE = 100
/** The most characters of waiting lines. */
const MOST_WAITING = 32_768

/**
 * Writes lines that are safe to show. JSON does not escape C1 controls and marks of direction, and
 * a terminal that shows the log would obey them.
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
    // With this symbol, pino puts the logger of each line into `lastLogger`.
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

const linesLost = counter(
  'log_lines_lost_total',
  'Lines of the log that could not be written, as on a full disk.',
)
const STDERR = 2
/** ms to wait for a reader of the log that is too slow. */
const SLOW_READER = 100
let isTorn = false

/**
 * Writes lines at once. Counts lines that cannot be written, and does not end the process because
 * of them.
 */
function write(lines: string): void {
  // A full disk may have cut the line before. A line break separates it from these lines.
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
      linesLost.inc({}, lines.split('\n').length - 1)
      isTorn = true
      return
    }
  }
}
