import type { ArchiveIndexFigures, Machines, PostgresServers } from '../../../shared/status/figures.ts'
import { bytes, plural, span } from '../numbers.ts'
import type { Problem } from './problem.ts'

/** A standby that is so far behind answers no fresh page (the alerts have the same limits). */
const LAG_BYTES = 256_000_000
const LAG_SECONDS = 60
/** Log of a follower that does not take it fills the disk in the end. */
const HELD_BYTES = 5_000_000_000
/** So many articles are due for the archive index when nobody fills it. */
const DUE_ARTICLES = 500_000

/** What an operator should look at among machines and servers. */
export function problemsOfMachines(machines: Machines | null): Problem[] {
  if (machines === null) return []
  const { postgres, vectors, redis, archiveIndex } = machines
  const texts = [
    ...(postgres ? ofPostgres(postgres) : []),
    ...ofVectors(vectors),
    ...ofRedis(redis),
    ...(archiveIndex ? ofArchive(archiveIndex) : []),
  ]
  const readOnly: Problem[] =
    postgres?.role === 'standby' ? [{ level: 'bad', text: 'The database is a standby: nothing can be written.' }] : []
  return [...readOnly, ...texts.map((text): Problem => ({ level: 'warn', text }))]
}

function ofPostgres({ standbys, slots, archive }: PostgresServers): string[] {
  const late = standbys.filter(
    ({ lagBytes, lagSeconds }) => (lagBytes ?? 0) > LAG_BYTES || (lagSeconds ?? 0) > LAG_SECONDS,
  )
  return [
    ...late.map(({ host, name, lagBytes, lagSeconds }) => {
      const behind = lagSeconds === null ? bytes(lagBytes ?? 0) : span(lagSeconds)
      return `The standby ${host ?? name} is ${behind} behind.`
    }),
    ...slots.filter(({ lost }) => lost).map(({ name }) => `The standby of slot ${name} has to be made anew.`),
    ...slots
      .filter(({ heldBytes }) => heldBytes > HELD_BYTES)
      .map(({ name, heldBytes }) => `Postgres keeps ${bytes(heldBytes)} of log for slot ${name}.`),
    ...(archive?.failing ? ['Postgres cannot archive its log.'] : []),
  ]
}

function ofVectors(vectors: Machines['vectors']): string[] {
  const idle = vectors?.shards.flatMap(({ copies }) => copies).filter(({ state }) => state !== 'Active') ?? []
  const away = vectors?.unreachable ?? []
  return [
    ...(away.length > 0 ? [`Qdrant does not reach ${away.join(', ')}.`] : []),
    ...(idle.length > 0 ? [`${plural(idle.length, 'copy', 'copies')} of vectors cannot answer.`] : []),
  ]
}

function ofRedis(redis: Machines['redis']): string[] {
  if (redis?.role === 'replica') return ['The Redis of the queues is a replica: nothing can be queued.']
  const away = redis?.replicas.filter(({ online }) => !online) ?? []
  return away.length > 0 ? [`${plural(away.length, 'replica')} of Redis cannot follow.`] : []
}

function ofArchive({ backlog, health }: ArchiveIndexFigures): string[] {
  const missing = health?.unassigned ?? 0
  return [
    ...(health === null ? ['OpenSearch does not say how the archive index is.'] : []),
    ...(missing > 0 ? [`OpenSearch misses ${plural(missing, 'copy', 'copies')} of shards of the archive index.`] : []),
    ...(backlog > DUE_ARTICLES ? [`${plural(backlog, 'article')} are due for the archive index.`] : []),
  ]
}
