/*
 * One table has every setting: its type, its default, its meaning. The reading, the checks, the
 * document and the warning about unknown names all use it.
 */

const POSTGRES = ['postgres', 'postgresql']
const HTTP = ['http', 'https']

// Functions for lines of the table. Their arguments are the default ('' for none), then the
// meaning.
const lineOf =
  <T extends Setting['type']>(type: T) =>
  (fallback: string, about: string) => ({ type, default: fallback, about })
const text = lineOf('text')
const list = lineOf('list')
const port = lineOf('port')
const bytes = lineOf('bytes')
const duration = lineOf('duration')
const secret = (about: string) => lineOf('secret')('', about)
const url = (schemes: readonly string[], about: string) => ({
  ...lineOf('url')('', about),
  schemes,
})
const urls = (schemes: readonly string[], about: string) => ({
  ...lineOf('urls')('', about),
  schemes,
})
const integer = (fallback: number, [min, max]: [number, number], about: string) => ({
  ...lineOf('integer')(String(fallback), about),
  min,
  max,
})

/**
 * Every environment variable that Perscope reads: name, type, default, meaning.
 * `docs/configuration.md` is printed from this table (`npm run configuration`).
 */
export const SETTINGS = {
  DATABASE_URL: url(POSTGRES, 'Postgres ≥ 15, the truth. Empty under `npm start`: one of its own.'),
  DATABASE_POOL: integer(8, [2, 200], 'Connections per process for ordinary queries.'),
  DATABASE_READ_URL: urls(
    POSTGRES,
    'Standbys that the API reads the index from, comma-separated. Empty: the primary alone.',
  ),
  REDIS_URL: url(
    ['redis', 'rediss'],
    'Redis for the work queues (`maxmemory-policy noeviction`). Empty: the queues are in Postgres.',
  ),
  REDIS_SENTINELS: list(
    '',
    'Sentinels that name the Redis of the work queues, `host:port`, comma-separated; REDIS_URL is not used then. `rediss://` before each: Sentinels and Redis over TLS.',
  ),
  REDIS_SENTINEL_NAME: text('perscope', 'Name by which the Sentinels know that Redis.'),
  REDIS_SENTINEL_PASSWORD: secret('Password of the Sentinels.'),
  REDIS_PASSWORD: secret('Password of the Redis that the Sentinels name.'),
  QDRANT_URL: url(HTTP, 'Qdrant, the vector store. Empty: semantic search answers 503.'),
  QDRANT_API_KEY: secret('Key of the vector store; that of the embedded one is found in DATA_DIR.'),
  QDRANT_COLLECTION: {
    ...text(
      'articles',
      'Beginning of the names of its collections; another for each system on one Qdrant.',
    ),
    form: { pattern: /^[^<>:"/\\|?*\p{Cc}]+$/u, example: 'articles-2' },
  },
  QDRANT_SHARDS: integer(1, [1, 1_000], 'Shards of a new collection.'),
  QDRANT_REPLICAS: integer(
    1,
    [1, 100],
    'Copies of each shard of a new collection, each on another node.',
  ),
  QDRANT_WRITE_CONSISTENCY: integer(
    1,
    [1, 100],
    'Copies of a new collection that must have stored a vector before the write counts.',
  ),
  TLS_CA_FILE: text(
    '',
    'Certificates (PEM) of the only authorities that connections to Postgres, Redis, Qdrant and OpenSearch trust. Empty: the public ones.',
  ),
  OPENSEARCH_URL: urls(
    HTTP,
    'OpenSearch nodes of the archive index, comma-separated. Empty: segments in Postgres hold every article.',
  ),
  OPENSEARCH_USER: text('', 'User of OpenSearch. Empty: it asks for none.'),
  OPENSEARCH_PASSWORD: secret('Password of that user.'),
  OPENSEARCH_INDEX: {
    ...text(
      'perscope',
      'Beginning of the names of its indices; another for each system on one OpenSearch.',
    ),
    form: {
      pattern: /^[a-z\d][a-z\d_-]{0,99}$/,
      example: 'perscope-2 (small letters, digits, - and _)',
    },
  },
  OPENSEARCH_SHARDS: integer(1, [1, 100], 'Shards of a new index.'),
  OPENSEARCH_REPLICAS: integer(1, [0, 10], 'Further copies of each shard of a new index.'),
  OPENSEARCH_RECENT: integer(
    1_000_000,
    [0, 1_000_000_000],
    'Newest articles that stay out of the archive index.',
  ),
  BACKUP_FOLDERS: list(
    '',
    'Folders of backups and of the archived log, comma-separated. `npm run articles`, `npm run backup` and embedders keep the list of removals in each that they can write to. `npm run doctor` knows a backup by its name: `*.backup`, or `base/*Z`.',
  ),
  DATA_DIR: text('.data', 'Where the embedded servers keep their data.'),
  OUTLETS: text('', 'Catalogue that `npm start` crawls. Empty: the sample outlets.'),

  PORT: port('8080', 'Port of the API.'),
  HOST: text('127.0.0.1', 'Address the API listens on.'),
  WEB_CONCURRENCY: integer(
    1,
    [0, 64],
    'Processes of the API behind its port. 0, as under `npm start` and in the Procfile: one a core, at most 8, and at most one a GB of memory.',
  ),
  METRICS_PORT: port(
    '0',
    'Port for metrics and health of this process; the lines of the Procfile count on from it. 0: a free one.',
  ),
  METRICS_HOST: text(
    '127.0.0.1',
    'Address of that port, which asks for no key: let none but your own network reach it.',
  ),
  OPERATOR_KEY: {
    ...secret(
      'Opens `/status` on the API; at least 24 letters, digits and `-._~+/`. Empty: there is no such page.',
    ),
    min: 24,
  },
  PUBLIC_URL: url(
    HTTP,
    'Address of the API as its clients write it. Empty: taken from HOST and PORT.',
  ),
  SERVICE_NAME: text('Perscope', 'Name of the service in feeds and pages.'),
  FEED_NAMESPACE_URL: {
    type: 'url',
    default: 'https://perscope.example/ns/feed/1',
    about: 'Address the RSS prefix `pc` is bound to.',
  },
  CORS_ORIGINS: {
    ...list('', 'Origins that browsers may call the API from, comma-separated.'),
    form: { pattern: /^(?:\*|null|[a-z][\w+.-]*:\/\/[^/\s]+)$/i, example: 'https://app.example' },
  },
  API_KEY: secret('Key that `npm run poll` sends. Empty: the one that `npm start` made.'),
  TRUST_PROXY: text(
    '',
    'Proxies whose X-Forwarded-For is believed: a number of hops, or addresses and ranges.',
  ),
  AUTH_LOCK_FAILURES: integer(10, [1, 1_000_000], 'Failed keys from one address that lock it.'),
  AUTH_LOCK_WINDOW: duration('5m', 'Time in which they are counted.'),
  AUTH_LOCK_DURATION: duration('15m', 'How long the lock holds.'),
  SEARCH_TIMEOUT: duration('15s', 'Longest a database statement of a search may run.'),

  SEARCH_CACHE: bytes(
    '0',
    'Memory for the index: posting lists, columns, counts, articles as they are shown. The processes of an API share it equally. 0: a tenth of the machine, at most 1.2GB.',
  ),

  CRAWL_USER_AGENT: text(
    'PerscopeBot/1.0 (+https://perscope.example/bot; bot@perscope.example)',
    'How the crawler introduces itself; name a contact.',
  ),
  CRAWL_FROM: text(
    '',
    'E-mail address of whoever is responsible for the crawler, sent as `From` and shown at `/bot` and in `/.well-known/security.txt`. Empty: none.',
  ),
  ALERT_HOSTS: {
    ...list(
      '',
      'Hosts of your own that alerts may tell, `host` or `host:port`, comma-separated, also private ones and by http.',
    ),
    form: { pattern: /^[^\s/@]+$/, example: 'hooks.example:8443' },
  },
  SMTP_URL: url(
    ['smtp', 'smtps'],
    'Server that sends the mail of alerts, as `smtps://name:password@mail.example`; the notifier alone needs it. Empty: alerts send no mail.',
  ),
  SMTP_FROM: text(
    '',
    'Sender of that mail. An API without SMTP_URL takes addresses of mail where it is set. Empty: `alerts@` and the host of PUBLIC_URL.',
  ),
  CRAWL_ALLOW_PRIVATE: list(
    '',
    'Private address ranges that the crawler may enter, as `127.0.0.0/8`.',
  ),
  CRAWL_PORTS: list(
    '80,443,8080,8443',
    'Ports of public addresses that the crawler may ask; ranges of CRAWL_ALLOW_PRIVATE are open on every port.',
  ),
  CRAWL_HOST_DELAY: duration(
    '1s',
    'Pause between two requests to one host; a longer Crawl-delay wins.',
  ),
  CRAWL_TIMEOUT: duration('20s', 'Longest one request may take, redirects apart.'),
  CRAWL_MAX_BYTES: integer(
    10_485_760,
    [1000, 268_435_456],
    'Longest answer, decompressed, that is read.',
  ),
  CRAWL_RETRY_MIN: duration(
    '1m',
    'First pause before a failed page is tried again; doubles, ends after a day.',
  ),
  CRAWL_CONCURRENCY: integer(16, [1, 512], 'Hosts one crawler process visits at a time.'),
  CRAWL_OUTLET_HOSTS: integer(
    300,
    [1, 1_000_000],
    'New hosts that one outlet may name in a day (UTC); others wait for the next.',
  ),
  CRAWL_OUTLET_PAGES: integer(
    10_000,
    [1, 100_000_000],
    'Pages of one outlet asked for in a day (UTC); others wait for the next.',
  ),
  CRAWL_OUTLET_BYTES: integer(
    1_073_741_824,
    [1000000, 999_999_999_999],
    'Bytes that one outlet may bring in a day (UTC), compressed; then it waits for the next.',
  ),
  POLL_INTERVAL_MIN: duration('1m', 'Shortest pause between two polls of a feed.'),
  POLL_INTERVAL_MAX: duration('28m', 'Longest pause between two polls of a feed.'),
  RIGHTS_TDM: {
    ...text(
      'refuse',
      'Pages whose outlet reserves text and data mining: `refuse` (not indexed), `index-only` (found by words, never by meaning) or `ignore` (uses that it does not allow, too). A licence in the catalogue outweighs it.',
    ),
    values: ['refuse', 'index-only', 'ignore'],
  },
  RIGHTS_GONE: {
    ...text(
      'keep',
      'Articles whose page answers 404 or 410 later: `keep`, `blank` (no snippet, no vector) or `remove` (taken out for good, after three such answers over a week).',
    ),
    values: ['keep', 'blank', 'remove'],
  },
  RIGHTS_NOINDEX: {
    ...text(
      'blank',
      'Articles whose page says later what stops a new article, as `noindex`: `keep`, `blank` or `remove`, as RIGHTS_GONE.',
    ),
    values: ['keep', 'blank', 'remove'],
  },
  RIGHTS_LOOKS: integer(
    24,
    [0, 100],
    'Pages of visible articles of an outlet that the crawler asks for again in a day; 0: none. It asks for none where RIGHTS_GONE and RIGHTS_NOINDEX are `keep`.',
  ),
  NORMALISE_THREADS: integer(2, [1, 64], 'Threads that take pages apart, per process.'),
  NORMALISE_TIMEOUT: duration('20s', 'Longest one page may keep a thread.'),
  PAGES_KEEP: duration('7d', 'How long the source of a finished page is kept.'),

  EMBED_DELAY: duration('2h', 'Time from indexing to embedding; 0 embeds at once.'),
  EMBED_CONCURRENCY: integer(
    1,
    [1, 64],
    'Batches that one embedder has in hand; more for an endpoint that serves many.',
  ),
  EMBEDDINGS_URL: url(
    HTTP,
    'Embedding endpoint. Empty: semantic search answers 503, or Inference Providers with HF_TOKEN.',
  ),
  EMBEDDINGS_API: text(
    'openai',
    '`openai`: any OpenAI-compatible `/v1/embeddings`; `tei`: Text Embeddings Inference; `hf`: Inference Providers (needs HF_TOKEN).',
  ),
  EMBEDDINGS_MODEL: text(
    'intfloat/multilingual-e5-small',
    'Name of the model; its conventions stand in `shared/embeddings/models.ts`.',
  ),
  EMBEDDINGS_API_KEY: secret(
    'Bearer token for EMBEDDINGS_URL alone; that of the embedded model is found in DATA_DIR. Empty: EMBEDDINGS_TOKEN.',
  ),
  EMBEDDINGS_TOKEN: secret(
    'Bearer token for the endpoint, also for one that `reembed --url` names.',
  ),
  HF_TOKEN: secret('Token for Hugging Face Inference Providers.'),
  EMBEDDINGS_TIMEOUT: duration('30s', 'Longest a batch of passages may take.'),

  EVENT_LOOP_TIMEOUT: duration(
    '1m',
    'A process whose event loop stands still for so long ends itself; 0: never.',
  ),
  LOG_LEVEL: {
    ...text('info', '`trace`, `debug`, `info`, `warn`, `error`, `fatal` or `silent`.'),
    values: ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
  },
} as const satisfies Record<string, Setting>

/**
 * Prefixes of our settings. A process warns about a name that has such a prefix and is not in the
 * table. Such a name is a typing error, or a setting of an earlier version (`QUESTION_`,
 * `WEBSUB_`).
 */
export const OWN_PREFIXES: string[] =
  `CRAWL_ POLL_ EMBED AUTH_LOCK_ NORMALISE_ OPENSEARCH_ PAGES_ SEARCH_ QDRANT_ QUESTION_ REDIS_SENTINEL RIGHTS_ TLS_
  WEBSUB_`.split(/\s+/)

/** One line of the settings table. */
export interface Setting {
  type: 'text' | 'secret' | 'url' | 'urls' | 'list' | 'integer' | 'port' | 'duration' | 'bytes'
  /** Absent: the default is empty. */
  default?: string
  /** The lowest number. For a secret that is sent as a Bearer token: its shortest length. */
  min?: number
  max?: number
  /** The schemes that an address may have. */
  schemes?: readonly string[]
  /** The only values that a text may have. */
  values?: readonly string[]
  /** What a text, or each element of a list, looks like. */
  form?: { pattern: RegExp; example: string }
  about: string
}

/**
 * The type of a setting's value after reading: durations are in milliseconds, sizes in bytes, lists
 * have no empty elements.
 */
export type SettingValue<T extends Setting['type']> = T extends
  | 'integer'
  | 'port'
  | 'duration'
  | 'bytes'
  ? number
  : T extends 'list' | 'urls'
    ? string[]
    : string
