/**
 * Figures about the whole system. `npm run status`, the metrics and `/status` read them. The page
 * in browsers imports these types, so this file imports nothing. Ages and lags are in seconds.
 */

/** The open work between the services. */
export interface Flow<Time = Date> {
  /** Articles that `export` would write: one a line. */
  articles: number
  embedded: number
  embeddings: {
    /** Delayed: their time of embedding has not come yet. */
    promised: number
    due: number
    /** Embeddings in quarantine: `npm run queues -- list` shows them. */
    failed: number
    /** Embeddings that have ended a process three times. They are tried once a day. */
    resting: number
    /** How long the oldest due embedding has waited. */
    oldest: number
  }
  pages: {
    /** Pages that will be fetched, now or later. */
    waiting: number
    /** The `waiting` pages that are due, and wait only for the delay of their hosts. */
    due: number
    /** Fetched pages that the normaliser has yet to process. */
    stored: number
    failed: number
    /** Waiting or stored pages that are tried once a day. */
    resting: number
    /** Time since the oldest stored page was fetched. */
    oldest: number
  }
  feeds: { resting: number }
  /** Articles that were taken out and wait to be cleared, and how long the oldest has waited. */
  removals: { waiting: number; oldest: number }
  /**
   * Pages of visible articles that were asked for again in the last day, how many answers wait to
   * be judged, and how long the oldest has waited.
   */
  looks: { asked: number; waiting: number; oldest: number }
  /** Back-fills that run, and how long the slowest one has settled no address. */
  back: { running: number; oldest: number }
  /** How many segments of the index are stored, and how many articles have no stored segment. */
  index: { segments: number; backlog: number }
  /** When an article last became visible. */
  newest: Time | null
}

type Services = 'crawler' | 'normaliser' | 'embedder' | 'api'
/** The notifier may be missing, because a fleet without alerts does not need it. */
type OfServices = Record<Services, number> & { notifier?: number }

/** The running processes and their work, as Postgres sees them. */
export interface RunningFleet {
  /**
   * How many processes of each service are connected to the database. 0: no process of the service
   * runs, or none reaches the database.
   */
  processes: OfServices
  /** How many of these processes have a checkout with an older schema than this process. */
  older: OfServices
  /** Hosts that a crawler visits at this moment. */
  visits: number
  /** Requests with keys in each key's present minute, and the number of these keys. */
  requests: number
  keys: number
}

/** The number of messages of a queue, by state. */
export interface QueueCounts {
  waiting: number
  active: number
  delayed: number
  failed: number
}

/**
 * A page or an embedding that failed for good. Its id is `page:N` (crawler, normaliser) or
 * `embedding:N` (embedder).
 */
export interface Quarantined {
  id: string
  what: string
  reason: string
  detail: string | null
  attempts: number
  since: string
}

export interface QuarantineCount {
  kind: 'page' | 'embedding'
  reason: string
  n: number
  /** Whether our side failed and not the outlet. An operator should then look at it. */
  ours: boolean
}

/** One of the last 24 hours. null: nothing was measured in it. */
export interface LagHour {
  /** Beginning of the hour, ISO 8601. */
  hour: string
  /** Crawled articles that were indexed in this hour. */
  articles: number
  /**
   * Lag from publication to index. Counts only articles that were published after their outlet was
   * added.
   */
  index: Lag | null
  /** Lag from index to vector, of articles that were embedded in this hour. */
  vector: Lag | null
}

export interface Lag {
  median: number
  p95: number
}

/** Machines, and the roles of the servers on them. A part that could not be read is null. */
export interface Machines {
  hosts: HostProcesses[] | null
  postgres: PostgresServers | null
  /** null: the nodes could not be read, or there is no Qdrant. */
  vectors: VectorNodes | null
  /** Also null when the queues are in Postgres. */
  redis: RedisServers | null
  /** Also null when there is no archive index. */
  archiveIndex: ArchiveIndexFigures | null
}

/** How many processes run on a host. `host`: the address from which they reach the database. */
export type HostProcesses = { host: string } & OfServices

/** The database server and its standbys. */
export interface PostgresServers {
  /** The server's own address; null: we use a local socket. */
  host: string | null
  role: 'primary' | 'standby'
  /**
   * False: the account of the services lacks the right to see where standbys are and how far they
   * lag (`pg_monitor`).
   */
  mayLook: boolean
  standbys: Standby[]
  slots: Slot[]
  /** null: the server does not archive its log (WAL). */
  archive: LogArchive | null
}

/** A standby. A value that the account may not see is null. */
export interface Standby {
  name: string | null
  host: string | null
  /** `streaming`; or `catchup` after an outage. */
  state: string | null
  /** Whether commits wait for this standby. */
  sync: boolean | null
  lagBytes: number | null
  /** Time between a commit and its replay on the standby. Also null while nothing is written. */
  lagSeconds: number | null
}

/** A replication slot. It keeps the log that its standby has not read yet. */
export interface Slot {
  name: string
  active: boolean
  heldBytes: number
  /** Whether the server has deleted this log. The standby must then be made anew. */
  lost: boolean
}

/** Postgres' archive of its log. */
export interface LogArchive {
  /** Whether the last try to archive a file failed. */
  failing: boolean
  /** The file that failed last. */
  file: string | null
}

/** The nodes of Qdrant, and the copies of a collection's shards on them. */
export interface VectorNodes {
  /** Hosts of the nodes; empty: a single node without a cluster. */
  nodes: string[]
  /** Nodes that the requested node does not reach. */
  unreachable: string[]
  shards: VectorShard[]
}

export interface VectorShard {
  shard: number
  copies: { node: string; state: string }[]
}

/** The Redis server of the queues, and its replicas. */
export interface RedisServers {
  /** Address of the server that answered. */
  host: string | null
  role: 'master' | 'replica'
  replicas: { host: string; online: boolean; lagBytes: number }[]
}

/** The archive index in OpenSearch: its articles as Postgres counts them, and its health. */
export interface ArchiveIndexFigures {
  /** Indices that serve searches. */
  indices: number
  /** Articles that searches find in the archive index. */
  articles: number
  /** Articles that are old enough for the archive index and not in it yet. */
  backlog: number
  /** Nodes, and copies of shards. null: this process has no OPENSEARCH_URL, or no node answers. */
  health: { nodes: number; active: number; unassigned: number } | null
}

/**
 * An outlet with its figures for operators. `lastSuccess` and `lastNew` are the latest times among
 * all its feeds.
 */
export interface OutletHealth<Time = Date> {
  domain: string
  name: string
  country: string
  /**
   * The licence that the operator has from the outlet. It allows more than the outlet's
   * reservations.
   */
  licence: string | null
  /**
   * `failing`: no feed, or no page, can be read. `blocked`: the outlet keeps many of its pages from
   * us. `silent`: no new article came for much longer than usual.
   */
  health: 'healthy' | 'silent' | 'blocked' | 'failing'
  lastSuccess: Time | null
  lastNew: Time | null
  /** ms between new articles in its busiest feed; null: not known yet. */
  rhythm: number | null
  feeds: number
  /** Feeds whose last poll failed. */
  failingFeeds: number
  /** The longest run of failed polls among its feeds. */
  failures: number
  error: string | null
  /**
   * The kinds of blocks in the last day, the most frequent first: `forbidden`, `challenge`,
   * `cookie wall` and so on.
   */
  blocks: { kind: string; pages: number }[]
  /**
   * Signals of rights that the outlet sent in the last week. `pages`: all pages ever with this
   * signal.
   */
  rights: { signal: string; source: string; pages: number; firstAt: string; lastAt: string }[]
  /** How much of its daily budgets (`CRAWL_OUTLET_…`) the outlet has used today (UTC). */
  today: { hosts: number; pages: number; bytes: number }
  /** Pages that wait because today's budget of new hosts is used up. */
  putOff: number
  /**
   * Set when the latest tries at its pages, several in a row, brought nothing that could be read.
   */
  unread: { tries: number; reason: string } | null
  /** Pages that did not answer in time. Each answer in time halves this number. */
  late: number
  /**
   * No page is fetched before this time, because the outlet answered slowly; null: it does not
   * rest.
   */
  restsUntil: Time | null
  /**
   * How often its feeds rolled on between two polls. `from`, `to`: the latest time between two
   * polls in which we may have missed articles. Null: not in the last seven days.
   */
  gaps: { count: number; from: Time; to: Time } | null
  /**
   * Set when more than a fifth of the outlet's latest pages are in the state `refused`, or became
   * articles with only the text of the feed.
   */
  kept: KeptPages | null
  origins: OutletOrigins
  /** Today and yesterday, the latest first. */
  days: OutletDay[]
}

/**
 * How complete our articles are: which of the addresses in feeds and sitemaps we have, by the day
 * (UTC) when they were found. The figures are of one outlet, or the sum of several.
 */
export interface OutletCompleteness {
  /** Addresses in feeds. */
  feeds: number
  /**
   * Addresses in sitemaps, as a second count beside `feeds`. Null: an outlet had no sitemap, so the
   * total is unknown.
   */
  second: number | null
  /** Addresses in feeds or sitemaps, in our languages. */
  named: number
  /** The `named` addresses that became articles. */
  indexed: number
  /** The `indexed` articles that have only the text of the feed, or no text. */
  alone: number
  /** Refused pages by reason. Pages in other languages (`language`) are not part of `named`. */
  refused: Record<string, number>
  lost: number
  /** Addresses that only a sitemap outside of the catalogue has. */
  unfetched: number
  waiting: number
  /** `indexed` divided by `named`, rounded down to thousandths; null without a second count. */
  share: number | null
  /**
   * Counts a day of an outlet if no poll reached the outlet on it. Today is left out, because it is
   * not over.
   */
  unread: number
  /** Feeds that rolled on between two polls. We may have missed some of their articles. */
  rolled: number
  /**
   * Whether more articles are missing than usual: pages were lost, polls failed, or feeds rolled
   * on.
   */
  gap: boolean
}

/** How we asked an outlet, and how it answered. */
export interface Manners {
  /** Answered polls of its feeds and sitemaps. */
  polls: number
  requests: number
  /** Requests that got no answer, or a status of 400 or more except 404 and 410. */
  errors: number
  /** Requests that got a 304. */
  unchanged: number
  /** Bytes of the bodies that the outlet sent, compressed. */
  bytes: number
}

/** The figures of an outlet for one day. */
export type OutletDay = { day: string } & OutletCompleteness & Manners

/** Pages that we found yesterday and today (UTC), and that their outlet kept from us. */
export interface KeptPages {
  /** Pages in the state `refused`, and pages whose articles have only the text of the feed. */
  pages: number
  /** Pages that are done or refused; `pages` is a part of them. */
  of: number
  /** The most frequent reason: the kind of block, or the reason of the refusals. */
  reason: string
}

/** Says what an outlet keeps from us, and one thing that an operator can do. */
export const keptInWords = ({ pages, of, reason }: KeptPages): string =>
  `${pages} of ${of} pages are refused or come from the feed alone (${reason}): ${TO_DO[reason] ?? 'npm run pages -- list --refused shows them'}`

const ASK = 'ask the outlet to admit us, or take it out of the catalogue'
const TO_DO: Record<string, string> = {
  challenge: ASK,
  forbidden: ASK,
  legal: ASK,
  cookies: ASK,
  robots: ASK,
  'cookie wall': ASK,
  login: 'its articles are for its readers; a licence opens them',
  paywall: 'its articles are for its readers; a licence opens them',
  'foreign host': 'complete "hosts" in the catalogue',
  'other outlet': 'take the feed out of the catalogue, or complete "hosts"',
  gone: 'its feed names pages that are not there: ask the outlet',
  'feed alone': 'npm run explain -- URL of an article shows what its page holds',
}

/** The sources of the fields of an outlet's articles. Shares are between 0 and 1. */
export interface OutletOrigins {
  /** The shares in the last eight days. For each field, the most frequent source comes first. */
  shares: { field: string; source: string; share: number }[]
  /** Fields whose sources on the latest day are worse than in the week before. */
  falls: { field: string; source: string; before: number; now: number }[]
}

/**
 * A fault: what is wrong, why, and the first thing to do. All places that show it use the same
 * words.
 */
export interface Cause {
  /** The check that found the fault. */
  check: string
  /**
   * `bad`: a check of `npm run doctor` has failed. `warn`: the check may fail soon, or the loss is
   * small.
   */
  level: 'bad' | 'warn'
  text: string
}

/** The surroundings of one process. A part that could not be read, or does not apply, is null. */
export interface Surroundings {
  /** The disk with DATA_DIR, in bytes. `total` is 0 after the folder was removed or replaced. */
  disk: { folder: string; free: number; total: number; daysLeft: number | null } | null
  memory: { free: number; total: number }
  /** How many seconds this machine's clock is ahead of the database's clock. */
  clockAhead: number | null
  /**
   * How many hosts of feeds had their names looked up, and how many names did not resolve;
   * `absent`: those of them for which the name server has no address. `lie`: a name that does not
   * exist and resolved all the same.
   */
  names: {
    asked: number
    failed: number
    example: string
    absent: string[]
    lie: string | null
  } | null
  /**
   * The numbers of the newest migration in the database and in the checkout, and the files that the
   * database lacks.
   */
  schema: { database: number; checkout: number; lacks: string[] } | null
  /** Whether the database refuses writes, because its disk is full. */
  databaseFull: boolean | null
  /** Faults that a quick check of the index finds. */
  index: string[] | null
  /** What is derived by other rules than those of this version. */
  rules: string[] | null
  /** The certificates that were asked for. `daysLeft` is null when the server showed none. */
  certificates: { of: string; daysLeft: number | null }[] | null
}

/**
 * Whether the normaliser (`pagesAreLate`) or the embedder (`embeddingsAreLate`) is behind: its
 * oldest work has waited too long.
 */
export const pagesAreLate = ({ pages }: Flow<unknown>): boolean => pages.oldest > 600
export const embeddingsAreLate = ({ embeddings }: Flow<unknown>): boolean =>
  embeddings.oldest > 1_800
/** Whether something of an article that was taken out stays in a store for long. */
export const removalsAreLate = ({ removals }: Flow<unknown>): boolean => removals.oldest > 3_600
/** A host that is away for a day delays a back-fill as long. */
export const backIsLate = ({ back }: Flow<unknown>): boolean => back.oldest > 129_600
/** Whether nobody judges what pages answered that were asked for again. */
export const looksAreLate = ({ looks }: Flow<unknown>): boolean => looks.oldest > 3_600

/**
 * The figures of `/status/figures`, as JSON has them: times are ISO 8601. A part that could not be
 * read is null, and `unread` has its name.
 */
export interface Figures<Time = string> {
  /** When the figures were read. */
  at: string
  service: string
  flow: Flow<Time> | null
  running: RunningFleet | null
  machines: Machines | null
  /** By name of the queue. */
  queues: Record<string, QueueCounts> | null
  /** Outlets with problems come first. */
  outlets: OutletHealth<Time>[] | null
  quarantine: { counts: QuarantineCount[]; newest: Quarantined[] } | null
  /** The last 24 hours. The present hour is the last one. */
  lag: LagHour[] | null
  around: Surroundings | null
  /** Dependencies that this process cannot reach. */
  missing: string[]
  unread: string[]
  /** Faults, the worst first. */
  causes: Cause[]
}
