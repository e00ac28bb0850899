import type { Pool } from '../../postgres/pool.ts'

/** The database server, and the servers that follow it. */
export interface PostgresServers {
  /** Address of the server, as it sees itself; null: over a local socket. */
  host: string | null
  role: 'primary' | 'standby'
  /**
   * False: the account of the services may not see where standbys are and how far behind
   * (`pg_monitor`).
   */
  mayLook: boolean
  standbys: Standby[]
  slots: Slot[]
  /** null: the server does not archive its log. */
  archive: Archive | null
}

/** A server that follows. What the account may not see is null. */
export interface Standby {
  name: string | null
  host: string | null
  /** `streaming`, or `catchup` after an outage. */
  state: string | null
  /** Whether a commit waits for it. */
  sync: boolean | null
  lagBytes: number | null
  /** Time between a commit and its replay there; null also while nothing is written. */
  lagSeconds: number | null
}

/** A replication slot keeps the log that a follower has not read yet. */
export interface Slot {
  name: string
  active: boolean
  heldBytes: number
  /** Whether the server has thrown the log away: the follower has to be made anew. */
  lost: boolean
}

export interface Archive {
  /** Whether the last try failed. */
  failing: boolean
  file: string | null
  /** ISO 8601. */
  failedAt: string | null
  archivedAt: string | null
}

// A base backup that is under way is a sender too, and no standby. Hidden values stay null, which
// `greatest` alone would take for zero.
const READ = `
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
         pg_has_role('pg_read_all_stats', 'usage') as may_look,
         (select coalesce(json_agg(s order by s.name, s.host), '[]') from standbys s) as standbys,
         (select coalesce(json_agg(s order by s.name), '[]') from slots s) as slots,
         current_setting('archive_mode') <> 'off' as archives,
         coalesce(last_failed_time > coalesce(last_archived_time, '-infinity'), false) as failing,
         last_failed_wal as file, last_failed_time as failed_at, last_archived_time as archived_at
    from now, pg_stat_archiver`

export async function readPostgres(db: Pick<Pool, 'query'>): Promise<PostgresServers> {
  const { rows } = await db.query<Row>({ name: 'status-postgres', text: READ })
  const { host, role, may_look, standbys, slots, archives, failing, file, failed_at, archived_at } = rows[0]!
  const archive = {
    failing,
    file,
    failedAt: failed_at?.toISOString() ?? null,
    archivedAt: archived_at?.toISOString() ?? null,
  }
  return { host, role, mayLook: may_look, standbys, slots, archive: archives ? archive : null }
}

interface Row extends Pick<PostgresServers, 'host' | 'role' | 'standbys' | 'slots'>, Pick<Archive, 'failing' | 'file'> {
  may_look: boolean
  archives: boolean
  failed_at: Date | null
  archived_at: Date | null
}
