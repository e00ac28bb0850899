import type { Fault } from './scene.ts'
import {
  backendKilled,
  connectionsEnded,
  machineLost,
  redisFault,
  serverKilled,
  serverPaused,
  supervisorKilled,
} from './servers.ts'
import { ended, paused } from './workers.ts'

interface Kind {
  inject: Fault
  /** How often it comes in one round of all faults. */
  times: number
  onRedisOnly?: true
}

/** Every fault that is injected, by the name under which it is reported. */
export const KINDS = {
  'kill crawler': { inject: ended('crawler', 'SIGKILL'), times: 2 },
  'kill normaliser': { inject: ended('normaliser', 'SIGKILL'), times: 2 },
  'kill embedder': { inject: ended('embedder', 'SIGKILL'), times: 2 },
  'kill api': { inject: ended('api', 'SIGKILL'), times: 1 },
  'end crawler': { inject: ended('crawler', 'SIGTERM'), times: 1 },
  'end normaliser': { inject: ended('normaliser', 'SIGTERM'), times: 1 },
  'end embedder': { inject: ended('embedder', 'SIGTERM'), times: 1 },
  'end api': { inject: ended('api', 'SIGTERM'), times: 1 },
  'pause crawler': { inject: paused('crawler'), times: 1 },
  'pause normaliser': { inject: paused('normaliser'), times: 1 },
  'pause embedder': { inject: paused('embedder'), times: 1 },
  'pause api': { inject: paused('api'), times: 1 },
  'kill postgres': { inject: serverKilled('postgres'), times: 2 },
  'pause postgres': { inject: serverPaused('postgres', 12_000), times: 1 },
  'kill supervisor': { inject: supervisorKilled, times: 1 },
  'end connections': { inject: connectionsEnded, times: 2 },
  'kill backend': { inject: backendKilled, times: 1 },
  'kill qdrant': { inject: serverKilled('qdrant'), times: 2 },
  'pause qdrant': { inject: serverPaused('qdrant', 8_000), times: 1 },
  'kill model': { inject: serverKilled('model'), times: 1 },
  'pause model': { inject: serverPaused('model', 8_000), times: 1 },
  'kill redis': { inject: redisFault('killed'), times: 2, onRedisOnly: true },
  'flush redis': { inject: redisFault('flushed'), times: 2, onRedisOnly: true },
  'lose redis': { inject: redisFault('lost'), times: 1, onRedisOnly: true },
  'lose machine': { inject: machineLost, times: 1 },
} as const satisfies Record<string, Kind>

export type KindName = keyof typeof KINDS
