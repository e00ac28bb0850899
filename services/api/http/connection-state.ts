import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** How far the requests of one connection are. */
export interface ConnectionState {
  requests: number
  unanswered: number
  /** The request that came last. */
  last: IncomingMessage
  /** Ends the connection when an answer takes too long; starts again with every answer. */
  late: NodeJS.Timeout | undefined
  /**
   * Ends the connection once every request has its answer. When it is set, the server ignores
   * requests that still arrive. null: the connection goes on.
   */
  ending: (() => void) | null
}

/** Requests and answers of all connections of a server. */
export interface Connections {
  /** undefined: the connection had no request yet. */
  get(socket: Socket): ConnectionState | undefined
  /** The state of a connection that has a request. */
  of(socket: Socket, request: IncomingMessage): ConnectionState
  /** Notes a request until its answer has ended. */
  begin(state: ConnectionState, request: IncomingMessage, response: ServerResponse): void
}

/** @param answerTimeout ms to the end of an answer, from the one before it or the request */
export function createConnections(answerTimeout: number): Connections {
  const states = new WeakMap<Socket, ConnectionState>()
  return {
    get: socket => states.get(socket),

    of(socket, request) {
      const known = states.get(socket)
      if (known) return known
      const state: ConnectionState = { requests: 0, unanswered: 0, last: request, late: undefined, ending: null }
      states.set(socket, state)
      // Not with the answers: an answer that waits behind another one is not told that the
      // connection has closed.
      socket.once('close', () => clearTimeout(state.late))
      return state
    },

    begin(state, request, response) {
      const { socket } = request
      state.last = request
      state.requests++
      state.unanswered++
      if (state.unanswered === 1) state.late = setTimeout(() => socket.destroy(), answerTimeout)
      response.once('close', () => {
        state.unanswered--
        if (state.unanswered === 0) clearTimeout(state.late)
        else state.late?.refresh()
        if (state.unanswered === 0 && socket.writable) state.ending?.()
      })
    },
  }
}

/**
 * Ends a connection after the answers that have begun: a refusal in the middle of another answer
 * could not be read.
 */
export function endAfterAnswers(socket: Socket, state: ConnectionState, ending: () => void): void {
  state.ending = ending
  if (state.unanswered === 0) ending()
  else socket.pause()
}
