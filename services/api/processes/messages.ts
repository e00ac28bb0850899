import { isRecord } from '../../../shared/json/is-record.ts'
import type { Missing } from '../../../shared/process/health.ts'

/*
 * Messages between the primary and its processes. Both run the same code, so a message is
 * checked by its kind alone.
 */

/** From the primary to a process. */
export type Order =
  /** A connection of a client comes with it. */
  | { kind: 'connection'; id: number }
  /** The machine has all connections that it may have: close idle ones. */
  | { kind: 'room' }
  /** Another process has taken your place: end when your clients have been told to leave. */
  | { kind: 'retire' }
  | { kind: 'end' }
  | { kind: 'ask'; question: Question; id: number }

/** A question of the primary to its processes. */
export type Question = 'metrics' | 'missing'

/** From a process to the primary. */
export type Report =
  /** It can answer requests. */
  | { kind: 'ready' }
  /** It has read ahead what searches need. */
  | { kind: 'warm' }
  | { kind: 'took'; id: number }
  | { kind: 'closed'; id: number }
  | { kind: 'metrics'; id: number; text: string }
  | { kind: 'missing'; id: number; missing: Missing }

export const isOrder = (message: unknown): message is Order =>
  isRecord(message) && ['connection', 'room', 'retire', 'end', 'ask'].includes(String(message.kind))

export const isReport = (message: unknown): message is Report =>
  isRecord(message) && ['ready', 'warm', 'took', 'closed', 'metrics', 'missing'].includes(String(message.kind))
