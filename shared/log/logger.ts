import { type Logger, pino } from 'pino'

export type { Logger }

/**
 * JSON lines on standard error: standard output is for data.
 * `service` stands on every line; bind request, job and page ids with `logger.child`.
 */
export function createLogger(service: string, level: string): Logger {
  return pino(
    {
      level,
      base: { service },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: label => ({ level: label }) },
      redact: ['headers.authorization', 'req.headers.authorization'],
    },
    pino.destination({ fd: 2, sync: true }),
  )
}
