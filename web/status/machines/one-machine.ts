import type { Machines } from '../../../shared/status/figures.ts'

/**
 * Whether all processes share a host, and no server has a copy of its data elsewhere, nor an
 * archive index.
 */
export function isOneMachine({ hosts, postgres, vectors, redis, archiveIndex }: Machines): boolean {
  const hasStandbys = postgres !== null && (postgres.role === 'standby' || postgres.standbys.length > 0)
  // A slot or an archive alone is no second machine, but it can fill the disk of the first.
  const keepsLog = postgres !== null && (postgres.slots.length > 0 || postgres.archive !== null)
  const hasNodes = vectors !== null && vectors.nodes.length > 0
  const hasReplicas = redis !== null && (redis.role === 'replica' || redis.replicas.length > 0)
  const hasCopies = hasStandbys || hasNodes || hasReplicas || archiveIndex !== null
  return (hosts?.length ?? 0) <= 1 && !keepsLog && !hasCopies
}
