/**
 * The figures of `/status/figures`, as JSON carries them: times are ISO 8601. A part that could not
 * be read is null, and `unread` names it.
 *
 * The page imports these types, so this file imports nothing.
 */
export interface Figures {
  /** When they were read. */
  at: string
  service: string
  /** Whether the queues are on Redis and can be looked into at `/queues`. */
  board: boolean
  flow: FlowFigures | null
  running: RunningFigures | null
  machines: MachineFigures | null
  /** By name of the queue. */
  queues: Record<string, QueueFigures> | null
  /** Those in trouble first. */
  outlets: OutletFigures[] | null
  quarantine: { counts: QuarantineFigures[]; newest: QuarantinedFigures[] } | null
  /** The last 24 hours, the present one last. */
  lag: LagFigures[] | null
  /** Dependencies that this process does not reach. */
  missing: string[]
  unread: string[]
}

/** The open work between the services. Ages in seconds. */
export interface FlowFigures {
  articles: number
  embedded: number
  embeddings: { promised: number; due: number; failed: number; oldest: number }
  pages: { waiting: number; due: number; stored: number; failed: number; oldest: number }
  /** Looks: to come, due, to be compared; and pages found changed or gone in the last day. */
  looks: { planned: number; due: number; compare: number; changed: number; gone: number }
  index: { segments: number; backlog: number }
  /** When an article last became visible. */
  newest: string | null
}

export interface RunningFigures {
  /** Processes that are connected to the database, by service. */
  processes: { crawler: number; normaliser: number; embedder: number; api: number }
  visits: number
  requests: number
  keys: number
}

/** Machines, and the roles of the servers on them. A part that cannot be read is null. */
export interface MachineFigures {
  /** Processes by the address from which they reach the database. */
  hosts: { host: string; crawler: number; normaliser: number; embedder: number; api: number }[] | null
  postgres: PostgresFigures | null
  /** Without nodes: a single Qdrant. */
  vectors: {
    nodes: string[]
    unreachable: string[]
    shards: { shard: number; copies: { node: string; state: string }[] }[]
  } | null
  redis: {
    host: string | null
    role: 'master' | 'replica'
    replicas: { host: string; online: boolean; lagBytes: number }[]
  } | null
  /** null also without one. */
  archiveIndex: ArchiveFigures | null
}

/** Articles in the archive index, and those that are due for it. */
export interface ArchiveFigures {
  indices: number
  articles: number
  backlog: number
  /** Nodes of OpenSearch, and copies of shards. null: no node answers. */
  health: { nodes: number; active: number; unassigned: number } | null
}

export interface PostgresFigures {
  host: string | null
  role: 'primary' | 'standby'
  /** False: what is null of standbys is hidden from this account. */
  mayLook: boolean
  standbys: StandbyFigures[]
  slots: { name: string; active: boolean; heldBytes: number; lost: boolean }[]
  /** null: the server does not archive its log. */
  archive: { failing: boolean; file: string | null; failedAt: string | null; archivedAt: string | null } | null
}

export interface StandbyFigures {
  name: string | null
  host: string | null
  state: string | null
  sync: boolean | null
  lagBytes: number | null
  lagSeconds: number | null
}

export interface QueueFigures {
  waiting: number
  active: number
  delayed: number
  failed: number
}

export interface OutletFigures {
  domain: string
  name: string
  country: string
  health: 'healthy' | 'silent' | 'failing'
  lastSuccess: string | null
  lastNew: string | null
  /** ms between new articles; null: not known yet. */
  rhythm: number | null
  feeds: number
  failingFeeds: number
  failures: number
  error: string | null
  blocks: { kind: string; pages: number }[]
  today: { hosts: number; pages: number; bytes: number }
  putOff: number
  late: number
  restsUntil: string | null
  /** Feeds that rolled on between two polls: how often, and when last. Null: not in seven days. */
  gaps: { count: number; from: string; to: string } | null
  origins: OriginFigures
}

/** Where the fields of an outlet's articles came from. Shares from 0 to 1. */
export interface OriginFigures {
  shares: { field: string; source: string; share: number }[]
  /** Fields whose sources are worse on the latest day than in the week before. */
  falls: { field: string; source: string; before: number; now: number }[]
}

export interface QuarantineFigures {
  kind: 'page' | 'embedding'
  reason: string
  n: number
  ours: boolean
}

export interface QuarantinedFigures {
  id: string
  what: string
  reason: string
  detail: string | null
  attempts: number
  since: string
}

/** An hour. Lags in seconds; null where nothing was measured. */
export interface LagFigures {
  hour: string
  articles: number
  index: Lag | null
  vector: Lag | null
}

export interface Lag {
  median: number
  p95: number
}
