import { isRecord } from '#shared/encoding/is-record'
import { registry } from '#shared/metrics'
import type { Missing } from '#shared/process/health'
import type { ProcessContext, RunningService } from '#shared/process/service'

/*
 * Messages between the primary and its processes. Both run the same code, so only the kind of a
 * message is checked.
 */

/** A message of the primary to a process. `retire`: its successor has taken its place. */
export type Order = { kind: 'end' } | { kind: 'retire' } | { kind: 'ask'; id: number }

/** The report of a process about itself. */
export interface ProcessReport {
  /** The process's metrics, as text. */
  metrics: string
  missing: Missing
}

/** The message of a process that has read ahead what searches need. */
export const WARM = 'warm'

interface ProcessAnswer {
  kind: 'answer'
  id: number
  report: ProcessReport
}

const isOrder = (message: unknown): message is Order =>
  isRecord(message) && ['end', 'retire', 'ask'].includes(String(message.kind))

export const isAnswer = (message: unknown): message is ProcessAnswer =>
  isRecord(message) && message.kind === 'answer'

/** ms in which a replaced process asks its clients to connect again. */
const FAREWELL = 2_000

/** The functions of a running process that its primary calls. */
export interface Served extends Pick<RunningService, 'missing'> {
  /** Resolves when the process has read ahead what searches need. */
  warm: Promise<void>
  /** Closes each connection with its next answer. */
  farewell(): void
}

/**
 * Obeys the primary, even while the process is starting.
 *
 * `node:cluster` ends a process whose primary is gone, so no process outlives a killed primary.
 *
 * @returns a function that must be called with the running API
 */
export function obeyPrimary({ end }: Pick<ProcessContext, 'end'>): (served: Served) => void {
  let served: Served | null = null
  process.on('message', (message: unknown) => {
    if (!isOrder(message)) return
    if (message.kind === 'end') end('the primary')
    else if (message.kind === 'ask') void answer(message.id)
    else {
      // A client may be sending a request on an idle connection. So each connection is closed with
      // its next answer, and the remaining idle ones afterwards.
      served?.farewell()
      setTimeout(() => end('its successor'), FAREWELL)
    }
  })

  async function answer(id: number): Promise<void> {
    const missing = (await served?.missing()) ?? { start: 'not finished' }
    send({
      kind: 'answer',
      id,
      report: { metrics: await registry().metrics(), missing },
    } satisfies ProcessAnswer)
  }
  return running => {
    served = running
    void running.warm.then(() => send(WARM))
  }
}

/** Sends a message, unless the primary is gone. */
function send(message: ProcessAnswer | typeof WARM): void {
  if (process.connected) process.send?.(message, undefined, undefined, () => {})
}
