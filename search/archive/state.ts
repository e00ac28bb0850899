import {
  type Client,
  type Pool,
  type Queryable,
  readColumn,
  readValue,
  transaction,
  whileLocked,
} from '../postgres.ts'
import { spanOf } from '../store/postgres-segments.ts'
import type { SegmentMeta, SegmentRange } from '../store/segment-store.ts'

/*
 * OpenSearch has the documents. Postgres alone says which indices of OpenSearch a search may use.
 * So one snapshot covers segments and archive together, and no search sees a half-filled index.
 */

/**
 * An index of the archive, as a search knows it. The articles from `first` to `last` are searchable
 * in it.
 */
export interface ArchiveIndex
  extends Pick<SegmentMeta, 'first' | 'last' | 'published' | 'ingested' | 'undated'> {
  name: string
}

/** All serving indices at one version of the segments, in ascending order and without a gap. */
export interface ArchiveMeta {
  indices: ArchiveIndex[]
  /** The archive matches articles up to this `seq`. */
  covered: bigint
  /** The version of the segments for which these indices hold. */
  version: bigint
  /** Numbers of articles that were taken out, and whose documents may still be there. */
  removed: number[]
}

/** An index of the archive, and how far it is filled. */
export interface ArchiveIndexState extends SegmentRange {
  name: string
  filledTo: bigint
  /**
   * `building`: it will replace the serving index of its range. `retired`: the next run deletes it
   * in OpenSearch.
   */
  state: 'building' | 'serving' | 'retired'
  /**
   * Version of its documents (`ANALYSIS`). Another version makes the next run build the index anew.
   */
  analysis: number
}

/** The times of articles that were put into an index. */
export interface Filled {
  published: { first: number; last: number } | null
  ingested: { first: number; last: number } | null
  undated: number
}

/** The number of an advisory lock. The number is arbitrary and never changes. */
const LOCK = 7_211_004_226n

/** Reads the serving indices before the first gap between their ranges. */
export async function readArchiveMeta(db: Queryable): Promise<ArchiveMeta> {
  const { rows } = await db.query<MetaRow>(META)
  const { version, removed } = rows[0]!
  const indices: ArchiveIndex[] = []
  let covered = 0n
  for (const { version: _, removed: __, ...index } of rows) {
    if (index.name === null || index.first !== covered + 1n) break
    indices.push(index)
    covered = index.last
  }
  return { indices, covered, version, removed }
}

export interface ArchiveStore {
  /** All indices, in ascending order of their ranges. */
  readIndices(): Promise<ArchiveIndexState[]>
  /**
   * Adds an index to Postgres before it is made in OpenSearch. An interrupted run then leaves no
   * index in OpenSearch that Postgres does not know.
   */
  add(state: ArchiveIndexState): Promise<void>
  /** Notes that articles up to `filledTo` are searchable, and the times of the added articles. */
  advance(name: string, filledTo: bigint, filled: Filled): Promise<void>
  /**
   * Makes the index that was built for a range the serving one. Retires the index that it
   * replaces.
   */
  replace(name: string): Promise<void>
  /** Marks serving indices, so that the next run builds them anew. */
  markStale(names: readonly string[]): Promise<void>
  /** Retires indices that serve no search. */
  retire(names: readonly string[]): Promise<void>
  /** Retires all indices, so that no search uses the archive. */
  retireAll(): Promise<void>
  /** Removes a retired index from the table, after OpenSearch has deleted it. */
  forget(name: string): Promise<void>
  /**
   * Drops the oldest segment if the archive has its articles. The newest segment stays.
   *
   * @returns how many articles the dropped segment had; 0: there is none to drop
   */
  releaseNext(): Promise<number>
  /** The numbers of the articles of a range that were taken out, ascending. */
  readRemoved(range: SegmentRange): Promise<number[]>
  /** Articles up to this `seq` have no segment, because only the archive has them; 0: none. */
  readReleasedTo(): Promise<bigint>
  /**
   * Notes up to which `seq` segments are still released. The caller's transaction also stores a
   * segment of released articles again.
   */
  restored(client: Client, releasedTo: bigint): Promise<void>
  /**
   * Runs work while no other process fills the archive. @returns null: another process fills it
   */
  exclusively<T>(work: () => Promise<T>): Promise<T | null>
}

/**
 * The state of the archive in Postgres: tables `archive_indices`, `segments_version`. Every change
 * that affects searches raises the version.
 */
export function openArchiveStore(pool: Pool): ArchiveStore {
  return {
    async readIndices() {
      return (await pool.query<ArchiveIndexState>(INDICES)).rows
    },

    async add({ name, first, last, filledTo, state, analysis }) {
      await pool.query(ADD, [name, first, last, filledTo, state, analysis])
    },

    async advance(name, filledTo, { published, ingested, undated }) {
      const date = (time: number | undefined) => (time === undefined ? null : new Date(time))
      const times = [published?.first, published?.last, ingested?.first, ingested?.last].map(date)
      await changing(pool, client => client.query(ADVANCE, [name, filledTo, ...times, undated]))
    },

    async replace(name) {
      await changing(pool, async client => {
        await client.query(RETIRE_OLD, [name])
        await client.query("update archive_indices set state = 'serving' where name = $1", [name])
      })
    },

    async markStale(names) {
      await pool.query('update archive_indices set analysis = 0 where name = any ($1::text[])', [
        names,
      ])
    },

    async retire(names) {
      await pool.query(
        "update archive_indices set state = 'retired' where name = any ($1::text[])",
        [names],
      )
    },

    async retireAll() {
      await changing(pool, client => client.query("update archive_indices set state = 'retired'"))
    },

    async forget(name) {
      await pool.query("delete from archive_indices where name = $1 and state = 'retired'", [name])
    },

    releaseNext: () => changing(pool, releaseNext),

    readRemoved: ({ first, last }) => readColumn<number>(pool, REMOVED, [first, last]),

    readReleasedTo: async () =>
      (await readValue<bigint>(pool, 'select released_to from segments_version'))!,

    async restored(client, releasedTo) {
      await client.query('update segments_version set released_to = $1', [releasedTo])
    },

    exclusively: <T>(work: () => Promise<T>): Promise<T | null> => whileLocked(pool, LOCK, work),
  }
}

/** Makes a change that searches must notice. The same transaction raises the version. */
const changing = async <T>(pool: Pool, change: (client: Client) => Promise<T>): Promise<T> =>
  await transaction(pool, async client => {
    const result = await change(client)
    await client.query('update segments_version set version = version + 1')
    return result
  })

async function releaseNext(client: Client): Promise<number> {
  const { rows } = await client.query<{ segment_no: number; articles: number }>(RELEASE)
  const numbers = rows.map(row => row.segment_no)
  await client.query('delete from segment_buckets where segment_no = any ($1::int[])', [numbers])
  return rows.reduce((sum, row) => sum + row.articles, 0)
}

type MetaRow = Pick<ArchiveMeta, 'version' | 'removed'> & (ArchiveIndex | { name: null })

// Indexes: tombstones_uncleared; the other tables are small.
const META = `
  select v.version, array(select seq::float8 from tombstones where cleared_at is null and seq > 0) as removed,
    name, first_seq as first, filled_to as last, undated::float8, ${spanOf('published')} as published, ${spanOf('ingested')} as ingested
  from segments_version v left join archive_indices i on i.state = 'serving' and i.filled_to >= i.first_seq
  order by i.first_seq`

const INDICES = `
  select name, first_seq as first, last_seq as last, filled_to as "filledTo", state, analysis
  from archive_indices order by first_seq, name`

// $1 first, $2 last. Index: tombstones_seq_key.
const REMOVED = 'select seq::float8 from tombstones where seq between $1 and $2 order by seq'

const ADD = `
  insert into archive_indices (name, first_seq, last_seq, filled_to, state, analysis) values ($1, $2, $3, $4, $5, $6)`

// $1 name, $2 filled to, $3 to $6 times, $7 undated. `least` and `greatest` leave nulls out.
const ADVANCE = `
  update archive_indices
  set filled_to = $2, undated = undated + $7,
      first_published = least(first_published, $3), last_published = greatest(last_published, $4),
      first_ingested = least(first_ingested, $5), last_ingested = greatest(last_ingested, $6)
  where name = $1 and filled_to < $2`

// $1 name of the new index
const RETIRE_OLD = `
  update archive_indices old set state = 'retired'
  from archive_indices new
  where new.name = $1 and old.first_seq = new.first_seq and old.state = 'serving'`

// Drops the oldest segment alone, because a transaction must not take long. The newest segment
// stays, because it tells up to where articles have segments.
const RELEASE = `
  with served as (
    select max(filled_to) as filled_to from archive_indices where state = 'serving'
  ), oldest as (
    select segment_no, first_seq, last_seq from segments, served
    where last_seq <= filled_to and last_seq < (select max(last_seq) from segments)
    order by first_seq limit 1
  ), dropped as (
    delete from segments s using oldest where s.segment_no = oldest.segment_no
    returning s.segment_no, s.first_seq, s.last_seq
  ), noted as (
    update segments_version set released_to = dropped.last_seq from dropped returning released_to
  )
  select segment_no, (last_seq - first_seq + 1)::int as articles from dropped`

const LACKING = `
  select released_to from segments_version
  where released_to > 0 and not coalesce((
    select range_agg(int8range(first_seq, filled_to, '[]')) @> int8range(1, released_to, '[]')
    from archive_indices where state = 'serving' and filled_to >= first_seq), false)`

/**
 * Tells whether the archive lacks articles that were released to it. A quick look only, like
 * `glanceAtIndex` for segments.
 */
export const glanceAtArchive = async (db: Queryable): Promise<string[]> =>
  (await readColumn<bigint>(db, LACKING)).map(
    releasedTo => `the archive index lacks some of the first ${releasedTo} articles`,
  )
