import type { ArchiveConfig } from '#shared/config/archive'
import type { Flow, PostgresServers, QueueCounts, Standby } from '#shared/figures'
import { figure, gauge, shared } from '#shared/metrics'
import type { Pool } from '#shared/postgres/pool'
import { QUEUE_NAMES, type Queues } from '#shared/queues/queues'
import { type RedisSettings, readRedis } from '#shared/queues/redis'
import { ACTIVE } from '#shared/vectors/cluster'
import { countQuarantine, readAlerts, readFlow } from './flow.ts'
import {
  type MachineSettings,
  readHealth,
  readHosts,
  readPostgres,
  readVectors,
} from './machines.ts'

/**
 * Shows the open work between the services as metrics. Figures are read at each scrape, and left
 * out if they cannot be read. Every worker shows the same figures, so one running worker is enough.
 * In queries, take the maximum over the processes and not the sum.
 */
export function observeFleet(pool: Pool, queues: Pick<Queues, 'counts'>): void {
  const flow = shared(() => readFlow(pool))
  const counts = shared(() => queues.counts())
  const quarantine = shared(() => countQuarantine(pool))
  const work = shared(async () => ({
    ...oldest(await flow()),
    tell: (await readAlerts(pool)).waiting,
  }))

  figure('articles', 'Articles in the index.', flow, ({ articles }) => articles)
  figure(
    'index_backlog_articles',
    'New articles that have no stored segment yet; every process that searches holds them in memory.',
    flow,
    ({ index }) => index.backlog,
  )
  figure('vectors', 'Articles whose vector is stored.', flow, ({ embedded }) => embedded)
  figure(
    'newest_article_age_seconds',
    'Time since an article last became visible.',
    flow,
    ({ newest }) => (newest === null ? null : Math.max(0, (Date.now() - newest.getTime()) / 1_000)),
  )
  gauge(
    'pages_open',
    'Pages by what they wait for: later, fetch, normalise.',
    ['waits_for'],
    flow,
    (set, { pages }) => {
      set({ waits_for: 'later' }, pages.waiting - pages.due)
      set({ waits_for: 'fetch' }, pages.due)
      set({ waits_for: 'normalise' }, pages.stored)
    },
  )
  gauge(
    'embeddings_open',
    'Articles without a vector: promised for later, or due.',
    ['state'],
    flow,
    (set, flow) => {
      set({ state: 'promised' }, flow.embeddings.promised)
      set({ state: 'due' }, flow.embeddings.due)
    },
  )
  gauge(
    'oldest_work_seconds',
    'How long the oldest work of a stage has been waiting.',
    ['stage'],
    work,
    (set, ages) => {
      for (const [stage, age] of Object.entries(ages)) set({ stage }, age)
    },
  )
  gauge(
    'queue_messages',
    'Messages in the work queues.',
    ['queue', 'state'],
    counts,
    (set, all) => {
      for (const queue of QUEUE_NAMES) {
        for (const state of STATES) set({ queue, state }, all[queue][state])
      }
    },
  )
  gauge(
    'quarantine',
    'What failed for good, by kind and reason.',
    ['kind', 'reason', 'ours'],
    quarantine,
    (set, all) => {
      for (const { kind, reason, ours, n } of all) set({ kind, reason, ours: String(ours) }, n)
    },
  )
}

const STATES = ['waiting', 'active', 'delayed', 'failed'] as const satisfies (keyof QueueCounts)[]

const oldest = ({ pages, embeddings, removals, looks, back }: Flow) => ({
  normalise: pages.oldest,
  embed: embeddings.oldest,
  clear: removals.oldest,
  judge: looks.oldest,
  back: back.oldest,
})

/**
 * Shows the machines and the roles of their servers as metrics. Figures are read at each scrape,
 * and left out if they cannot be read. Every worker shows the same figures.
 */
export function observeMachines(pool: Pool, config: RedisSettings): void {
  const hosts = shared(() => readHosts(pool))
  gauge(
    'processes',
    'Processes that are connected to the database.',
    ['host', 'of'],
    hosts,
    (set, all) => {
      for (const { host, ...counts } of all) {
        for (const [of, count] of Object.entries(counts)) set({ host, of }, count)
      }
    },
  )
  observePostgres(pool)
  observeRedis(config)
}

function observePostgres(pool: Pool): void {
  const postgres = shared(() => readPostgres(pool))
  gauge(
    'postgres_role',
    'The role of the database server that was reached (primary, standby); always 1.',
    ['role', 'host'],
    postgres,
    (set, { role, host }) => set({ role, host: host ?? '' }, 1),
  )
  figure(
    'postgres_standbys',
    'Servers that follow the database.',
    postgres,
    ({ standbys }) => standbys.length,
  )
  observeLag('bytes', 'Log that a standby has not replayed yet.', postgres, one => one.lagBytes)
  observeLag(
    'seconds',
    'Time between a commit and its replay on a standby.',
    postgres,
    one => one.lagSeconds,
  )
  gauge(
    'postgres_slot_held_bytes',
    'Log that a replication slot keeps.',
    ['slot'],
    postgres,
    (set, { slots }) => {
      for (const { name, heldBytes } of slots) set({ slot: name }, heldBytes)
    },
  )
  figure(
    'postgres_archive_failing',
    'Whether the last try to archive the log failed.',
    postgres,
    ({ archive }) => (archive === null ? null : Number(archive.failing)),
  )
}

/** @param of the lag of a standby; null: not known, so it is left out */
function observeLag(
  unit: 'bytes' | 'seconds',
  help: string,
  postgres: () => Promise<PostgresServers>,
  of: (standby: Standby) => number | null,
): void {
  gauge(
    `postgres_standby_lag_${unit}`,
    help,
    ['standby', 'host'],
    postgres,
    (set, { standbys }) => {
      for (const standby of standbys) {
        const lag = of(standby)
        if (standby.name !== null && lag !== null)
          set({ standby: standby.name, host: standby.host ?? '' }, lag)
      }
    },
  )
}

function observeRedis(config: RedisSettings): void {
  const redis = shared(() => readRedis(config))
  gauge(
    'redis_role',
    'The role of the Redis that was reached (master, replica); always 1.',
    ['role', 'host'],
    redis,
    (set, one) => {
      if (one !== null) set({ role: one.role, host: one.host ?? '' }, 1)
    },
  )
  figure(
    'redis_replicas',
    'Replicas that follow the Redis of the queues.',
    redis,
    one => one?.replicas.filter(({ online }) => online).length ?? null,
  )
  gauge(
    'redis_replica_lag_bytes',
    'What a replica of Redis has not taken yet.',
    ['host'],
    redis,
    (set, one) => {
      for (const { host, lagBytes } of one?.replicas ?? []) set({ host }, lagBytes)
    },
  )
}

/**
 * Shows the nodes of Qdrant and the copies of its shards as metrics. Only services with the key of
 * Qdrant can call this.
 */
export function observeVectorNodes(pool: Pool, config: MachineSettings): void {
  const vectors = shared(() => readVectors(pool, config))
  figure(
    'vector_nodes_unreachable',
    'Nodes of Qdrant that another node does not reach.',
    vectors,
    one => one?.unreachable.length ?? null,
  )
  gauge(
    'vector_shard_copies',
    'Copies of shards of Qdrant, by whether they answer.',
    ['active'],
    vectors,
    (set, one) => {
      const copies = one?.shards.flatMap(shard => shard.copies) ?? []
      const active = copies.filter(({ state }) => state === ACTIVE).length
      set({ active: 'true' }, active)
      set({ active: 'false' }, copies.length - active)
    },
  )
}

/** Shows the nodes of OpenSearch as metrics. Only services with its password can call this. */
export function observeArchive(config: ArchiveConfig): void {
  const health = shared(() => readHealth(config))
  figure(
    'archive_nodes',
    'Nodes of the OpenSearch that has the archive index.',
    health,
    one => one?.nodes ?? null,
  )
  figure(
    'archive_copies_unassigned',
    'Copies of shards of the archive index that no node has.',
    health,
    one => one?.unassigned ?? null,
  )
}
