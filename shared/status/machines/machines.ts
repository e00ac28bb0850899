import type { Pool } from '../../postgres/pool.ts'
import type { RedisSettings } from '../../queues/redis.ts'
import { type RedisServers, readRedis } from '../../queues/replication.ts'
import { readVectorNodes, type VectorNodes } from '../../vectors/cluster.ts'
import type { QdrantSettings } from '../../vectors/qdrant.ts'
import { readCollections } from '../../vectors/registry.ts'
import { type ArchiveIndexSettings, type ArchiveIndexState, readArchiveIndex } from './archive-index.ts'
import { type HostProcesses, readHosts } from './hosts.ts'
import { type PostgresServers, readPostgres } from './postgres.ts'

/** Machines, and the roles of the servers on them. A part that cannot be read is null. */
export interface Machines {
  hosts: HostProcesses[] | null
  postgres: PostgresServers | null
  /** null also without a Qdrant. */
  vectors: VectorNodes | null
  /** null also with the queues in Postgres. */
  redis: RedisServers | null
  /** null also without an archive index. */
  archiveIndex: ArchiveIndexState | null
}

export type MachineSettings = QdrantSettings & RedisSettings & ArchiveIndexSettings

export async function readMachines(db: Pick<Pool, 'query'>, config: MachineSettings): Promise<Machines> {
  const orNull = <T>(reading: Promise<T>): Promise<T | null> => reading.catch(() => null)
  const [hosts, postgres, vectors, redis, archiveIndex] = await Promise.all([
    orNull(readHosts(db)),
    orNull(readPostgres(db)),
    orNull(readVectors(db, config)),
    orNull(readRedis(config)),
    orNull(readArchiveIndex(db, config)),
  ])
  return { hosts, postgres, vectors, redis, archiveIndex }
}

/** The nodes of Qdrant, with the shards of the collection that serves. */
export async function readVectors(db: Pick<Pool, 'query'>, config: MachineSettings): Promise<VectorNodes | null> {
  const [serving] = await readCollections(db)
  return readVectorNodes(config, serving?.name ?? null)
}
