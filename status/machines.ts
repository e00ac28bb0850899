import { type ArchiveHealth, readArchiveHealth } from '#search/archive/writer'
import { readIndexSize } from '#search/indexer'
import { type ArchiveConfig, archiveSettingsOf } from '#shared/config/archive'
import type { Config } from '#shared/config/config'
import type { HostProcesses, Machines, PostgresServers, VectorNodes } from '#shared/figures'
import { type Pool, SCHEMA } from '#shared/postgres/pool'
import { type RedisSettings, readRedis } from '#shared/queues/redis'
import { readVectorNodes } from '#shared/vectors/cluster'
import type { QdrantSettings } from '#shared/vectors/qdrant'
import { readCollections } from '#shared/vectors/registry'

export type MachineSettings = QdrantSettings & RedisSettings & ArchiveIndexSettings

export async function readMachines(
  db: Pick<Pool, 'query'>,
  config: MachineSettings,
): Promise<Machines> {
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

/** The nodes of Qdrant, with the shards of the serving collection. */
export async function readVectors(
  db: Pick<Pool, 'query'>,
  config: MachineSettings,
): Promise<VectorNodes | null> {
  const [serving] = await readCollections(db)
  return readVectorNodes(config, serving?.name ?? null)
}

export const SERVICES: string[] = ['crawler', 'normaliser', 'embedder', 'notifier', 'api']

/**
 * SQL: the number of processes of a service. All connections of a process have the same name, and
 * no other process has this name (`createPool`).
 */
export const countOf = (service: string): string =>
  `count(distinct application_name) filter (where application_name like 'perscope ${service} #%')::int`

/** SQL: the number of processes of a service whose checkout has an older schema. */
export const olderOf = (
  service: string,
): string => `count(distinct application_name) filter (where application_name like 'perscope ${service} #%'
            and coalesce(substring(application_name from ' m(\\d+)$')::int, 0) < ${SCHEMA})::int`

const READ_HOSTS = `
  select coalesce(host(client_addr), 'local socket') as host, ${SERVICES.map(name => `${countOf(name)} as ${name}`)}
    from pg_stat_activity
   where datname = current_database() and application_name ~ '^perscope (crawler|normaliser|embedder|notifier|api) #'
   group by 1 order by 1`

/** The hosts of the processes, by the addresses that the database sees. */
export const readHosts = async (db: Pick<Pool, 'query'>): Promise<HostProcesses[]> =>
  (await db.query<HostProcesses>({ name: 'status-hosts', text: READ_HOSTS })).rows

// A running base backup is also listed as a sender, but is no standby. Values that the account may
// not see stay null. `greatest` alone would make them zero.
const READ_POSTGRES = `
  with now as materialized (
    select pg_is_in_recovery() as replays,
           case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_lsn() end as lsn
  ), standbys as (
    select application_name as name, host(client_addr) as host, state, sync_state in ('sync', 'quorum') as sync,
           case when flush_lsn is not null then greatest(0, pg_wal_lsn_diff(lsn, coalesce(replay_lsn, flush_lsn)))::float8 end as "lagBytes",
           case when lsn <= replay_lsn then 0 else extract(epoch from replay_lag)::float8 end as "lagSeconds"
      from pg_stat_replication, now where state is distinct from 'backup'
  ), slots as (
    select slot_name as name, active, coalesce(greatest(0, pg_wal_lsn_diff(lsn, restart_lsn)), 0)::float8 as "heldBytes",
           coalesce(wal_status = 'lost', false) as lost
      from pg_replication_slots, now where not temporary
  )
  select host(inet_server_addr()) as host, case when replays then 'standby' else 'primary' end as role,
         pg_has_role('pg_read_all_stats', 'usage') as "mayLook",
         (select coalesce(json_agg(s order by s.name, s.host), '[]') from standbys s) as standbys,
         (select coalesce(json_agg(s order by s.name), '[]') from slots s) as slots,
         case when current_setting('archive_mode') <> 'off' then json_build_object(
           'failing', coalesce(last_failed_time > coalesce(last_archived_time, '-infinity'), false),
           'file', last_failed_wal) end as archive
    from now, pg_stat_archiver`

export const readPostgres = async (db: Pick<Pool, 'query'>): Promise<PostgresServers> =>
  (await db.query<PostgresServers>({ name: 'status-postgres', text: READ_POSTGRES })).rows[0]!

/** The settings by which the archive index is read. */
type ArchiveIndexSettings = ArchiveConfig & Pick<Config, 'OPENSEARCH_RECENT'>

/** @returns null: no search uses an archive index, and no setting names one */
async function readArchiveIndex(db: Pick<Pool, 'query'>, config: ArchiveIndexSettings) {
  const health = readHealth(config).catch(() => null)
  const { rows } = await db.query<{ indices: number; articles: number; known: number }>(
    READ_ARCHIVE,
  )
  const { indices, articles, known } = rows[0]!
  if (indices === 0 && config.OPENSEARCH_URL.length === 0) return null
  // Articles without a stored segment are not due, because the archive takes only articles that
  // have a segment.
  const { covered } = await readIndexSize(db)
  const due = Math.min(covered, known - config.OPENSEARCH_RECENT)
  return { indices, articles, backlog: Math.max(0, due - articles), health: await health }
}

/**
 * Reads the health of the archive index from OpenSearch.
 *
 * @returns null: there is no archive index
 * @throws when no node answers
 */
export async function readHealth(config: ArchiveConfig): Promise<ArchiveHealth | null> {
  const settings = archiveSettingsOf(config)
  return settings === null ? null : readArchiveHealth(settings)
}

const READ_ARCHIVE = `
  select count(name)::int as indices, coalesce(max(filled_to), 0)::float8 as articles,
         ingest_clock.last_seq::float8 as known
    from ingest_clock left join archive_indices on state = 'serving'
   group by ingest_clock.last_seq`
