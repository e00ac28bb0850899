const POSTGRES = ['postgres', 'postgresql']
const HTTP = ['http', 'https']

/**
 * Every environment variable that Perscope reads: name, type, default, meaning.
 * `docs/configuration.md` is printed from this table (`npm run configuration`).
 */
export const SETTINGS = {
  DATABASE_URL: {
    type: 'url',
    schemes: POSTGRES,
    about: 'Postgres ≥ 15, the truth. Empty under `npm start`: one of its own.',
  },
  DATABASE_POOL: {
    type: 'integer',
    default: '8',
    min: 2,
    max: 200,
    about: 'Connections per process for ordinary queries.',
  },
  DATABASE_READ_URL: {
    type: 'urls',
    schemes: POSTGRES,
    about: 'Standbys that the API reads the index from, comma-separated. Empty: the primary alone.',
  },
  REDIS_URL: {
    type: 'url',
    schemes: ['redis', 'rediss'],
    about: 'Redis for the work queues (`maxmemory-policy noeviction`). Empty: the queues are in Postgres.',
  },
  REDIS_SENTINELS: {
    type: 'list',
    about:
      'Sentinels that name the Redis of the work queues, `host:port`, comma-separated; REDIS_URL is not used then. `rediss://` before each: Sentinels and Redis over TLS.',
  },
  REDIS_SENTINEL_NAME: { type: 'text', default: 'perscope', about: 'Name by which the Sentinels know that Redis.' },
  REDIS_SENTINEL_PASSWORD: { type: 'secret', about: 'Password of the Sentinels.' },
  REDIS_PASSWORD: { type: 'secret', about: 'Password of the Redis that the Sentinels name.' },
  QDRANT_URL: { type: 'url', schemes: HTTP, about: 'Qdrant, the vector store. Empty: semantic search answers 503.' },
  QDRANT_API_KEY: { type: 'secret', about: 'Key of the vector store; that of the embedded one is found in DATA_DIR.' },
  QDRANT_COLLECTION: {
    type: 'text',
    default: 'articles',
    about: 'Beginning of the names of its collections; another for each system on one Qdrant.',
  },
  QDRANT_SHARDS: {
    type: 'integer',
    default: '1',
    min: 1,
    max: 1_000,
    about: 'Shards of a new collection.',
  },
  QDRANT_REPLICAS: {
    type: 'integer',
    default: '1',
    min: 1,
    max: 100,
    about: 'Copies of each shard of a new collection, each on another node.',
  },
  QDRANT_WRITE_CONSISTENCY: {
    type: 'integer',
    default: '1',
    min: 1,
    max: 100,
    about: 'Copies of a new collection that must have stored a vector before the write counts.',
  },
  TLS_CA_FILE: {
    type: 'text',
    about:
      'Certificates (PEM) of the only authorities that connections to Postgres, Redis, Qdrant and OpenSearch trust. Empty: the public ones.',
  },
  OPENSEARCH_URL: {
    type: 'urls',
    schemes: HTTP,
    about: 'OpenSearch nodes of the archive index, comma-separated. Empty: segments in Postgres hold every article.',
  },
  OPENSEARCH_USER: { type: 'text', about: 'User of OpenSearch. Empty: it asks for none.' },
  OPENSEARCH_PASSWORD: { type: 'secret', about: 'Password of that user.' },
  OPENSEARCH_INDEX: {
    type: 'text',
    default: 'perscope',
    about: 'Beginning of the names of its indices; another for each system on one OpenSearch.',
  },
  OPENSEARCH_SHARDS: { type: 'integer', default: '1', min: 1, max: 100, about: 'Shards of a new index.' },
  OPENSEARCH_REPLICAS: {
    type: 'integer',
    default: '1',
    min: 0,
    max: 10,
    about: 'Further copies of each shard of a new index.',
  },
  OPENSEARCH_RECENT: {
    type: 'integer',
    default: '1000000',
    max: 1_000_000_000,
    about: 'Newest articles that stay out of the archive index.',
  },
  DATA_DIR: { type: 'text', default: '.data', about: 'Where the embedded servers keep their data.' },
  OUTLETS: { type: 'text', about: 'Catalogue that `npm start` crawls. Empty: the sample outlets.' },

  PORT: { type: 'port', default: '8080', about: 'Port of the API.' },
  HOST: { type: 'text', default: '127.0.0.1', about: 'Address the API listens on.' },
  WEB_CONCURRENCY: {
    type: 'integer',
    default: '1',
    min: 0,
    max: 64,
    about:
      'Processes of the API behind its port. 0, as under `npm start` and in the Procfile: one a core, at most 8, and at most one a GB of memory.',
  },
  METRICS_PORT: {
    type: 'port',
    default: '0',
    about: 'Port for metrics and health of this process; 0: a free one.',
  },
  METRICS_HOST: {
    type: 'text',
    default: '127.0.0.1',
    about: 'Address of that port, which asks for no key: let none but your own network reach it.',
  },
  OPERATOR_KEY: {
    type: 'secret',
    min: 24,
    about: 'Opens `/status` on the API; at least 24 letters, digits and `-._~+/`. Empty: there is no such page.',
  },
  PUBLIC_URL: {
    type: 'url',
    schemes: HTTP,
    about: 'Address of the API as its clients write it. Empty: taken from HOST and PORT.',
  },
  SERVICE_NAME: { type: 'text', default: 'Perscope', about: 'Name of the service in feeds and pages.' },
  FEED_NAMESPACE_URL: {
    type: 'url',
    default: 'https://perscope.example/ns/feed/1',
    about: 'Address the RSS prefix `pc` is bound to.',
  },
  CORS_ORIGINS: { type: 'list', about: 'Origins that browsers may call the API from, comma-separated.' },
  API_KEY: {
    type: 'secret',
    about: 'Key that `npm run poll` sends. Empty: the one that `npm start` made.',
  },
  TRUST_PROXY: {
    type: 'text',
    about: 'Proxies whose X-Forwarded-For is believed: a number of hops, or addresses and ranges.',
  },
  AUTH_LOCK_FAILURES: {
    type: 'integer',
    default: '10',
    min: 1,
    max: 1_000_000,
    about: 'Failed keys from one address that lock it.',
  },
  AUTH_LOCK_WINDOW: { type: 'duration', default: '5m', about: 'Time in which they are counted.' },
  AUTH_LOCK_DURATION: { type: 'duration', default: '15m', about: 'How long the lock holds.' },
  SEARCH_TIMEOUT: { type: 'duration', default: '15s', about: 'Longest a database statement of a search may run.' },

  SEARCH_CACHE: {
    type: 'bytes',
    default: '0',
    about:
      'Memory for the index: posting lists, columns, counts, articles as they are shown. The processes of an API share it equally. 0: a tenth of the machine, at most 1.1GB.',
  },

  CRAWL_USER_AGENT: {
    type: 'text',
    default: 'PerscopeBot/1.0 (+https://perscope.example/bot; bot@perscope.example)',
    about: 'How the crawler introduces itself; name a contact.',
  },
  CRAWL_FROM: {
    type: 'text',
    about:
      'E-mail address of whoever is responsible for the crawler, sent as `From` and shown at `/bot` and in `/.well-known/security.txt`. Empty: none.',
  },
  ALERT_HOSTS: {
    type: 'list',
    about:
      'Hosts of your own that alerts may tell, `host` or `host:port`, comma-separated, also private ones and by http.',
  },
  SMTP_URL: {
    type: 'url',
    schemes: ['smtp', 'smtps'],
    about: 'Server that sends the mail of alerts, as `smtps://name:password@mail.example`. Empty: alerts send no mail.',
  },
  SMTP_FROM: { type: 'text', about: 'Sender of that mail. Empty: `alerts@` and the host of PUBLIC_URL.' },
  CRAWL_ALLOW_PRIVATE: { type: 'list', about: 'Private address ranges that the crawler may enter, as `127.0.0.0/8`.' },
  CRAWL_PORTS: {
    type: 'list',
    default: '80,443,8080,8443',
    about: 'Ports of public addresses that the crawler may ask; ranges of CRAWL_ALLOW_PRIVATE are open on every port.',
  },
  CRAWL_HOST_DELAY: {
    type: 'duration',
    default: '1s',
    about: 'Pause between two requests to one host; a longer Crawl-delay wins.',
  },
  CRAWL_TIMEOUT: { type: 'duration', default: '20s', about: 'Longest one request may take, redirects apart.' },
  CRAWL_MAX_BYTES: {
    type: 'integer',
    default: '10485760',
    min: 1_000,
    max: 268_435_456,
    about: 'Longest answer, decompressed, that is read.',
  },
  CRAWL_RETRY_MIN: {
    type: 'duration',
    default: '1m',
    about: 'First pause before a failed page is tried again; doubles, ends after a day.',
  },
  CRAWL_CONCURRENCY: {
    type: 'integer',
    default: '16',
    min: 1,
    max: 512,
    about: 'Hosts one crawler process visits at a time.',
  },
  CRAWL_OUTLET_HOSTS: {
    type: 'integer',
    default: '300',
    min: 1,
    max: 1_000_000,
    about: 'New hosts that one outlet may name in a day (UTC); others wait for the next.',
  },
  CRAWL_OUTLET_PAGES: {
    type: 'integer',
    default: '10000',
    min: 1,
    max: 100_000_000,
    about: 'Pages of one outlet asked for in a day (UTC); others wait for the next.',
  },
  CRAWL_OUTLET_BYTES: {
    type: 'integer',
    default: '1073741824',
    min: 1_000_000,
    max: 999_999_999_999,
    about: 'Bytes that one outlet may bring in a day (UTC), compressed; then it waits for the next.',
  },
  POLL_INTERVAL_MIN: { type: 'duration', default: '1m', about: 'Shortest pause between two polls of a feed.' },
  POLL_INTERVAL_MAX: { type: 'duration', default: '28m', about: 'Longest pause between two polls of a feed.' },
  RIGHTS_TDM: {
    type: 'text',
    values: ['refuse', 'index-only', 'ignore'],
    default: 'refuse',
    about:
      'Pages whose outlet reserves text and data mining: `refuse` (not indexed), `index-only` (found by words, never by meaning) or `ignore` (uses that it does not allow, too). A licence in the catalogue outweighs it.',
  },
  NORMALISE_THREADS: {
    type: 'integer',
    default: '2',
    min: 1,
    max: 64,
    about: 'Threads that take pages apart, per process.',
  },
  NORMALISE_TIMEOUT: { type: 'duration', default: '20s', about: 'Longest one page may keep a thread.' },
  PAGES_KEEP: { type: 'duration', default: '7d', about: 'How long the source of a finished page is kept.' },

  EMBED_DELAY: { type: 'duration', default: '2h', about: 'Time from indexing to embedding; 0 embeds at once.' },
  EMBED_CONCURRENCY: {
    type: 'integer',
    default: '1',
    min: 1,
    max: 64,
    about: 'Batches that one embedder has in hand; more for an endpoint that serves many.',
  },
  EMBEDDINGS_URL: {
    type: 'url',
    schemes: HTTP,
    about: 'Embedding endpoint. Empty: semantic search answers 503, or Inference Providers with HF_TOKEN.',
  },
  EMBEDDINGS_API: {
    type: 'text',
    default: 'openai',
    about:
      '`openai`: any OpenAI-compatible `/v1/embeddings`; `tei`: Text Embeddings Inference; `hf`: Inference Providers (needs HF_TOKEN).',
  },
  EMBEDDINGS_MODEL: {
    type: 'text',
    default: 'intfloat/multilingual-e5-small',
    about: 'Name of the model; its conventions stand in `shared/embeddings/models.ts`.',
  },
  EMBEDDINGS_API_KEY: {
    type: 'secret',
    about:
      'Bearer token for EMBEDDINGS_URL alone; that of the embedded model is found in DATA_DIR. Empty: EMBEDDINGS_TOKEN.',
  },
  EMBEDDINGS_TOKEN: {
    type: 'secret',
    about: 'Bearer token for the endpoint, also for one that `reembed --url` names.',
  },
  HF_TOKEN: { type: 'secret', about: 'Token for Hugging Face Inference Providers.' },
  EMBEDDINGS_TIMEOUT: { type: 'duration', default: '30s', about: 'Longest a batch of passages may take.' },

  EVENT_LOOP_TIMEOUT: {
    type: 'duration',
    default: '1m',
    about: 'A process whose event loop stands still for so long ends itself; 0: never.',
  },
  LOG_LEVEL: { type: 'text', default: 'info', about: '`trace`, `debug`, `info`, `warn`, `error` or `silent`.' },
} as const satisfies Record<string, Setting>

/**
 * Prefixes of our settings. Processes warn of a name with such a prefix that is not in the table:
 * it is a typing error, or a setting of a former version (`QUESTION_`, `WEBSUB_`).
 */
export const OWN_PREFIXES = [
  'CRAWL_',
  'POLL_',
  'EMBED',
  'AUTH_LOCK_',
  'NORMALISE_',
  'OPENSEARCH_',
  'PAGES_',
  'SEARCH_',
  'QDRANT_',
  'QUESTION_',
  'REDIS_SENTINEL',
  'RIGHTS_',
  'TLS_',
  'WEBSUB_',
] as const

/** One line of the settings table. */
export interface Setting {
  type: 'text' | 'secret' | 'url' | 'urls' | 'list' | 'integer' | 'port' | 'duration' | 'bytes'
  /** Left out: empty. */
  default?: string
  /** Of a number. Of a secret: its least length, for one that is sent as a Bearer token. */
  min?: number
  max?: number
  /** Of addresses: those that they may begin with. */
  schemes?: readonly string[]
  /** The only values of a text. */
  values?: readonly string[]
  about: string
}

/**
 * The value a setting has once it is read: durations in milliseconds, sizes in bytes, lists without
 * empty elements.
 */
export type SettingValue<T extends Setting['type']> = T extends 'integer' | 'port' | 'duration' | 'bytes'
  ? number
  : T extends 'list' | 'urls'
    ? string[]
    : string
