import type { Fault } from './fault.ts'
import {
  backendKilled,
  connectionsEnded,
  machineLost,
  postgresPaused,
  redisFault,
  serverKilled,
  serverPaused,
  supervisorKilled,
} from './servers.ts'
import { asked, killed, paused } from './workers.ts'

interface Kind {
  inject: Fault
  /** How often it comes in one round of all faults. */
  times: number
  onRedisOnly?: true
}

/** Every fault that is injected, by the name under which it is reported. */
export const KINDS = {
  'kill crawler': { inject: killed('crawler'), times: 2 },
  'kill normaliser': { inject: killed('normaliser'), times: 2 },
  'kill embedder': { inject: killed('embedder'), times: 2 },
  'kill api': { inject: killed('api'), times: 1 },
  'end crawler': { inject: asked('crawler'), times: 1 },
  'end normaliser': { inject: asked('normaliser'), times: 1 },
  'end embedder': { inject: asked('embedder'), times: 1 },
  'end api': { inject: asked('api'), times: 1 },
  'pause crawler': { inject: paused('crawler'), times: 1 },
  'pause normaliser': { inject: paused('normaliser'), times: 1 },
  'pause embedder': { inject: paused('embedder'), times: 1 },
  'pause api': { inject: paused('api'), times: 1 },
  'kill postgres': { inject: serverKilled('postgres'), times: 2 },
  'pause postgres': { inject: postgresPaused(12_000), times: 1 },
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
