import { archive } from './archive.ts'
import { etcd } from './etcd.ts'
import { postgres, postgresLong } from './postgres.ts'
import { postgresRecovery } from './postgres-recovery.ts'
import { qdrant, qdrantLong } from './qdrant.ts'
import { redis, redisLong } from './redis.ts'
import type { Scenario } from './scenario.ts'

/** All scenarios of `npm run fleet`. Add yours here. */
export const SCENARIOS: readonly Scenario[] = [
  etcd,
  postgres,
  postgresLong,
  postgresRecovery,
  qdrant,
  qdrantLong,
  redis,
  redisLong,
  archive,
]
