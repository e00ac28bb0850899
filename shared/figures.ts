/**
 * What is known of the whole system. `npm run status`, the metrics and `/status` read these
 * figures; the page imports these types, so this file imports nothing. Ages and lags are seconds.
 */

/** The open work between the services. */
export interface Flow<Time = Date> {
  /** Articles that `export` would write, one a line. */
  articles: number
  embedded: number
  embeddings: {
    /** Delayed: the time of their embedding has not come yet. */
    promised: number
    due: number
    /** In quarantine: `npm run queues -- list` shows them. */
    failed: number
    /** Tried once a day: they have ended a process three times. */
    resting: number
    /** How long the oldest due embedding has waited. */
    oldest: number
  }
  pages: {
    /** To be fetched, now or later. */
    waiting: number
    /** Of these, due now: they wait for the delay of their hosts. */
    due: number
    /** Fetched, to be normalised. */
    stored: number
    failed: number
    /** Waiting or stored, and tried once a day. */
    resting: number
    /** Time since the oldest stored page was fetched. */
    oldest: number
  }
  feeds: { resting: number }
  /** Segments of the index: how many are stored, and the articles that have none yet. */
  index: { segments: number; backlog: number }
  /** When an article last became visible. */
  newest: Time | null
}

type Services = 'crawler' | 'normaliser' | 'embedder' | 'api'
/** A fleet without alerts needs no notifier. */
type OfServices = Record<Services, number> & { notifier?: number }

/** The fleet at this moment, as Postgres sees it. */
export interface RunningFleet {
  /**
   * Processes that are connected to the database, by service. None: no process of the service
   * runs, or none reaches the database.
   */
  processes: OfServices
  /** Of these, the processes whose checkout has an older schema than this one. */
  older: OfServices
  /** Hosts being visited. */
  visits: number
  /** Requests with keys in the present minute of each key, and the number of these keys. */
  requests: number
  keys: number
}

/** Messages of a queue. */
export interface QueueCounts {
  waiting: number
  active: number
  delayed: number
  failed: number
}

/**
 * A page or an embedding that failed for good: `page:N` (crawler, normaliser) or `embedding:N`
 * (embedder).
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
  /** Whether our side failed and not the outlet, so that an operator should look at it. */
  ours: boolean
}

/** One hour of the last 24. null: nothing was measured. */
export interface LagHour {
  /** Beginning of the hour, ISO 8601. */
  hour: string
  /** Articles of the crawl that were indexed in the hour. */
  articles: number
  /** From publication to index, of articles published since their outlet was added. */
  index: Lag | null
  /** From index to vector, of articles embedded in the hour. */
  vector: Lag | null
}

export interface Lag {
  median: number
  p95: number
}

/** Machines, and the roles of the servers on them. A part that cannot be read is null. */
export interface Machines {
  hosts: HostProcesses[] | null
  postgres: PostgresServers | null
  /** null: it cannot be read, or there is no Qdrant. */
  vectors: VectorNodes | null
  /** null also with the queues in Postgres. */
  redis: RedisServers | null
  /** null also without an archive index. */
  archiveIndex: ArchiveIndexFigures | null
}

/** Processes of one host. `host`: the address from which they reach the database. */
export type HostProcesses = { host: string } & OfServices

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
  archive: LogArchive | null
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

/** Postgres' archive of its log. */
export interface LogArchive {
  /** Whether the last try failed. */
  failing: boolean
  /** The file that failed last. */
  file: string | null
}

/** The nodes of Qdrant, and the copies of a collection's shards on them. */
export interface VectorNodes {
  /** Hosts of the nodes; empty: a single node that is no cluster. */
  nodes: string[]
  /** Nodes that the one we asked does not reach. */
  unreachable: string[]
  shards: VectorShard[]
}

export interface VectorShard {
  shard: number
  copies: { node: string; state: string }[]
}

/** The Redis of the queues, and those that follow it. */
export interface RedisServers {
  /** Address of the server that answered. */
  host: string | null
  role: 'master' | 'replica'
  replicas: { host: string; online: boolean; lagBytes: number }[]
}

/** The archive index in OpenSearch: its articles as Postgres knows them, and its health. */
export interface ArchiveIndexFigures {
  /** Indices that searches use. */
  indices: number
  /** Articles that are searched there. */
  articles: number
  /** Articles that are old enough for the archive index, but not in it yet. */
  backlog: number
  /** Nodes, and copies of shards. null: this process has no OPENSEARCH_URL, or no node answers. */
  health: { nodes: number; active: number; unassigned: number } | null
}

/** One outlet as operators see it. Times are those of its feeds together. */
export interface OutletHealth<Time = Date> {
  domain: string
  name: string
  country: string
  /** The licence that the operator has from the outlet. It outweighs the outlet's reservations. */
  licence: string | null
  /**
   * `failing`: no feed can be read. `blocked`: it keeps many of its pages from us. `silent`:
   * nothing new for much longer than usual.
   */
  health: 'healthy' | 'silent' | 'blocked' | 'failing'
  lastSuccess: Time | null
  lastNew: Time | null
  /** ms between new articles, of its busiest feed; null: not known yet. */
  rhythm: number | null
  feeds: number
  /** Feeds whose last poll failed. */
  failingFeeds: number
  /** The longest run of failures among its feeds. */
  failures: number
  error: string | null
  /**
   * The kinds of blocks in the last day, the most frequent first: `forbidden`, `challenge`,
   * `cookie wall` …
   */
  blocks: { kind: string; pages: number }[]
  /** Signals of rights that it sent in the last week, with the number of pages ever. */
  rights: { signal: string; source: string; pages: number; firstAt: string; lastAt: string }[]
  /** Its use of the crawl today (UTC), see `CRAWL_OUTLET_…`. */
  today: { hosts: number; pages: number; bytes: number }
  /** Pages that wait for another day's budget of new hosts. */
  putOff: number
  /** Pages that did not answer in time. Each answer in time halves the number. */
  late: number
  /**
   * No page is fetched before this time because of slow answers; null: the outlet does not rest.
   */
  restsUntil: Time | null
  /**
   * How often its feeds rolled on between two polls, and the latest time in which articles may have
   * come and gone unseen. Null: not in the last seven days.
   */
  gaps: { count: number; from: Time; to: Time } | null
  /** Set when more than a fifth of its latest pages come from the feed alone or are refused. */
  kept: KeptPages | null
  origins: OutletOrigins
  /** Today and yesterday, the latest first. */
  days: OutletDay[]
}

/**
 * How many of the addresses that feeds and sitemaps named we have, by the day (UTC) when they were
 * found. Of one outlet, or of several together.
 */
export interface OutletCompleteness {
  /** Addresses that feeds named. */
  feeds: number
  /**
   * Addresses that sitemaps named: a second count beside that of the feeds. Null: an outlet had no
   * sitemap, so nobody knows the whole.
   */
  second: number | null
  /** Addresses that feeds or sitemaps named, in our languages. */
  named: number
  /** Named addresses that became articles. */
  indexed: number
  /** Of the indexed ones, those with the text of the feed alone, or without a text. */
  alone: number
  /** Refused pages, by reason. Those in other languages (`language`) are not among `named`. */
  refused: Record<string, number>
  lost: number
  /** Addresses that only a sitemap outside of the catalogue named. */
  unfetched: number
  waiting: number
  /** `indexed` of `named`, rounded down to thousandths; null without a second count. */
  share: number | null
  /**
   * Days of outlets on which no poll reached the outlet. Today is not among them, because it is not
   * over.
   */
  unread: number
  /** Feeds that rolled on between two polls: articles may have come and gone unseen. */
  rolled: number
  /**
   * Whether more is missing than usual: pages were lost, polls failed, or feeds rolled on unseen.
   */
  gap: boolean
}

/** How an outlet was asked. */
export interface Manners {
  /** Polls of its feeds and sitemaps that were answered. */
  polls: number
  requests: number
  /** Requests without an answer, or with a status from 400 on, except 404 and 410. */
  errors: number
  /** Answered with 304. */
  unchanged: number
  /** Bytes of bodies, as they were sent (compressed). */
  bytes: number
}

/** A day of an outlet. */
export type OutletDay = { day: string } & OutletCompleteness & Manners

/** Pages found yesterday and today (UTC) that an outlet kept from us. */
export interface KeptPages {
  /** Pages that come from the feed alone, or are refused. */
  pages: number
  /** Pages that are done or refused. */
  of: number
  /** The most frequent reason: a kind of block, or why pages were refused. */
  reason: string
}

/** What an outlet keeps from us, in words, with one thing to do. */
export const keptInWords = ({ pages, of, reason }: KeptPages): string =>
  `${pages} of ${of} pages are refused or come from the feed alone (${reason}): ${TO_DO[reason] ?? 'npm run pages -- list --refused shows them'}`

const ASK = 'ask the outlet to admit us, or take it out of the catalogue'
const TO_DO: Record<string, string> = {
  ...{ challenge: ASK, forbidden: ASK, legal: ASK, cookies: ASK, robots: ASK, 'cookie wall': ASK },
  ...{
    login: 'its articles are for its readers; a licence opens them',
    paywall: 'its articles are for its readers; a licence opens them',
  },
  'foreign host': 'complete "hosts" in the catalogue',
  'other outlet': 'take the feed out of the catalogue, or complete "hosts"',
  gone: 'its feed names pages that are not there: ask the outlet',
  'feed alone': 'npm run explain -- URL of an article shows what its page holds',
}

/** Where the fields of an outlet's articles came from. Shares from 0 to 1. */
export interface OutletOrigins {
  /** The last eight days. The most frequent source of each field comes first. */
  shares: { field: string; source: string; share: number }[]
  /** Fields whose sources are worse on the latest day than in the week before. */
  falls: { field: string; source: string; before: number; now: number }[]
}

/**
 * Something that is wrong: what, why, and the first thing to do. The words are the same wherever it
 * is told.
 */
export interface Cause {
  /** Name of the check that found it. */
  check: string
  /** `bad`: a check of `npm run doctor` has failed. `warn`: it may fail soon, or little is lost. */
  level: 'bad' | 'warn'
  text: string
}

/** What one process sees around it. A part that could not be read, or does not apply, is null. */
export interface Surroundings {
  /** The disk of DATA_DIR, in bytes; `total` is 0 once the folder was removed or replaced. */
  disk: { folder: string; free: number; total: number; daysLeft: number | null } | null
  memory: { free: number; total: number }
  /** Seconds by which this machine's clock is ahead of the database's. */
  clockAhead: number | null
  /**
   * Hosts of feeds whose names were asked for, and how many did not resolve. `lie`: a name that
   * nobody has, and that resolved all the same.
   */
  names: { asked: number; failed: number; example: string; lie: string | null } | null
  /** Numbers of the newest migrations. */
  schema: { database: number; checkout: number } | null
  /** Whether the database refuses writes because its disk is full. */
  databaseFull: boolean | null
  /** What a short look at the index finds. */
  index: string[] | null
  certificates: { of: string; daysLeft: number }[]
}

/** Whether the normaliser, or the embedder, is behind: its oldest work has waited for long. */
export const pagesAreLate = ({ pages }: Flow<unknown>): boolean => pages.oldest > 600
export const embeddingsAreLate = ({ embeddings }: Flow<unknown>): boolean => embeddings.oldest > 1_800

/**
 * The figures of `/status/figures`, as JSON carries them: times are ISO 8601. A part that could not
 * be read is null, and `unread` names it.
 */
export interface Figures<Time = string> {
  /** When they were read. */
  at: string
  service: string
  flow: Flow<Time> | null
  running: RunningFleet | null
  machines: Machines | null
  /** By name of the queue. */
  queues: Record<string, QueueCounts> | null
  /** Outlets in trouble come first. */
  outlets: OutletHealth<Time>[] | null
  quarantine: { counts: QuarantineCount[]; newest: Quarantined[] } | null
  /** The last 24 hours, the present one last. */
  lag: LagHour[] | null
  around: Surroundings | null
  /** Dependencies that this process does not reach. */
  missing: string[]
  unread: string[]
  /** What is wrong, the worst first. */
  causes: Cause[]
}
