import type { Server } from 'node:http'
import { Socket } from 'node:net'
import { registry } from '../../../shared/log/registry.ts'
import type { ProcessContext, Running } from '../../../shared/process/service.ts'
import type { Door } from '../http/address.ts'
import { isOrder, type Question, type Report } from './messages.ts'

/** ms in which the clients of a process that is replaced are told to connect again. */
const FAREWELL = 2_000
/** ms to the end without a primary. Another one may have the port by then. */
const ORPHAN_TIMEOUT = 5_000

/** One of several processes that serve one port: what it needs from its primary. */
export interface PrimaryLink {
  door: Door
  /** Searches need not wait for what is read ahead any more. */
  tellWarm(): void
  /** Answers the questions of the primary. */
  answerFor(running: Pick<Running, 'missing'>): void
}

/**
 * Takes connections from the primary. Ends the process when the primary says so or is gone: a
 * killed primary says nothing, but its end closes the channel.
 */
export function linkToPrimary({ end }: Pick<ProcessContext, 'end'>): PrimaryLink {
  const connections = new Set<Socket>()
  const emptied = new Set<() => void>()
  let server: Server | null = null
  let running: Pick<Running, 'missing'> | null = null

  process.on('message', (message: unknown, handle: unknown) => {
    if (!isOrder(message)) return
    if (message.kind === 'connection') take(message.id, handle)
    else if (message.kind === 'room') server?.closeIdleConnections()
    else if (message.kind === 'retire') retire()
    else if (message.kind === 'end') end('the primary')
    else void answer(message.question, message.id)
  })
  process.on('disconnect', () => {
    setTimeout(() => process.exit(143), ORPHAN_TIMEOUT).unref()
    end('the end of the primary')
  })

  function take(id: number, handle: unknown): void {
    report({ kind: 'took', id })
    // The client may have gone on the way.
    if (!(handle instanceof Socket) || server === null) return void report({ kind: 'closed', id })
    // As Node's own HTTP server has its connections.
    handle.allowHalfOpen = true
    handle.setNoDelay(true)
    connections.add(handle)
    handle.once('close', () => {
      connections.delete(handle)
      report({ kind: 'closed', id })
      if (connections.size === 0) for (const resolve of emptied) resolve()
    })
    server.emit('connection', handle)
  }

  function retire(): void {
    // An idle connection that is closed may have a request on its way. So each is closed by its
    // next answer, and only those without one afterwards.
    server?.prependListener('request', (_request, response) => {
      response.shouldKeepAlive = false
    })
    setTimeout(() => end('its successor'), FAREWELL)
  }

  async function answer(question: Question, id: number): Promise<void> {
    if (question === 'metrics') return report({ kind: 'metrics', id, text: await registry.metrics() })
    report({ kind: 'missing', id, missing: (await running?.missing()) ?? { start: 'not finished' } })
  }

  return {
    door: {
      async open(opened) {
        server = opened
        // Node begins to watch the times of a server's connections when it listens.
        opened.emit('listening')
        report({ kind: 'ready' })
        return null
      },
      async close(opened) {
        const empty = new Promise<void>(resolve => emptied.add(resolve))
        opened.close(() => {})
        if (connections.size > 0) await empty
      },
    },
    tellWarm: () => report({ kind: 'warm' }),
    answerFor(started) {
      running = started
    },
  }
}

/** The primary may be gone. */
function report(message: Report): void {
  if (process.connected) process.send?.(message, undefined, undefined, () => {})
}
