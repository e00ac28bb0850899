import { readFile } from 'node:fs/promises'
import type { Config } from '#shared/config/config'
import { openEmbeddings, sourceOf } from '#shared/embeddings/embeddings'
import type { Cause } from '#shared/figures'
import { createLogger } from '#shared/log/logger'
import { readCatalogue } from '#shared/outlets/catalogue'
import type { Pool } from '#shared/postgres/pool'
import { type Missing, missingAmong } from '#shared/process/health'
import { openQueues } from '#shared/queues/queues'
import { readRedis, usesRedis } from '#shared/queues/redis'
import { openVectorStore } from '#shared/vectors/qdrant-store'
import { createRestarts, createStalls, readFacts, unsetOf } from '#status/cause-watch'
import { causesOf, type Facts } from '#status/causes'
import { readSurroundings } from '#status/surroundings'

/** ms that a server may take to answer, at first, and where every check is made. */
const PATIENCE = { first: 2_000, thorough: 10_000 }

/**
 * The servers that do not answer this machine. One that does not answer is asked again, because a
 * busy machine answers late.
 */
export async function serversAway(
  config: Config,
  pool: Pool,
  thoroughly: boolean,
): Promise<Missing> {
  const unset = unsetOf(config)
  const patience = thoroughly ? PATIENCE.thorough : PATIENCE.first
  // A server's own limit is longer, so that a late answer is told from a refusal.
  const limit = patience + 1_000
  const vectors = openVectorStore(config, limit)
  const questions = {
    postgres: () => pool.query('select 1'),
    ...(usesRedis(config) ? { redis: () => readRedis(config) } : {}),
    ...(unset.includes('QDRANT_URL') ? {} : { vectors: () => vectors.ping() }),
    ...(unset.includes('EMBEDDINGS_URL') ? {} : { model: () => askModel(config, limit) }),
    ...(config.SMTP_URL === '' ? {} : { mail: () => greetMailServer(config, limit) }),
  }
  const away = await missingAmong(questions, PATIENCE.first)
  return missingAmong(
    Object.fromEntries(Object.entries(questions).filter(([name]) => name in away)),
    patience,
  )
}

async function askModel(config: Config, limit: number): Promise<void> {
  const embeddings = openEmbeddings(sourceOf(config), { passageTimeout: limit })
  await embeddings.embedQuery('ready', AbortSignal.timeout(limit))
}

/** Greets the mail server and logs in, as before a mail. */
async function greetMailServer({ SMTP_URL }: Config, limit: number): Promise<void> {
  const { createTransport } = await import('nodemailer')
  const transport = createTransport({
    url: SMTP_URL,
    connectionTimeout: limit,
    greetingTimeout: limit,
    socketTimeout: limit,
    dnsTimeout: limit,
  })
  await transport.verify().finally(() => transport.close())
}

/**
 * ms between two readings. Messages that wait in both readings, without a worker, count as stalled.
 */
const LOOK_AGAIN = 10_000

/**
 * Reads the facts once. When `thoroughly`, it counts messages again if some wait without a worker.
 */
export async function factsNow(config: Config, pool: Pool, thoroughly: boolean): Promise<Facts> {
  const queues = openQueues(config, createLogger('doctor', 'silent'), true)
  const memory = { restarts: createRestarts(), stalls: createStalls() }
  const watched = { pool, queues, config, missing: () => serversAway(config, pool, thoroughly) }
  try {
    const facts = await readFacts(watched, memory, thoroughly)
    const waits = Object.values(facts.queues ?? {}).some(
      ({ waiting, active }) => waiting > 0 && active === 0,
    )
    if (thoroughly && waits) {
      await new Promise(resolve => setTimeout(resolve, LOOK_AGAIN))
      const counts = await queues.counts().catch(() => ({}))
      facts.stalled = memory.stalls(counts, Date.now() + 3_600_000)
    }
    return facts
  } finally {
    await queues.close().catch(() => {})
  }
}

/** Causes of trouble before `npm start` begins: its disk, memory, the names of its outlets. */
export async function causesBefore(config: Config): Promise<Cause[]> {
  const hosts = config.OUTLETS === '' ? [] : await hostsIn(config.OUTLETS).catch(() => [])
  const around = await readSurroundings(config, null, { hosts })
  return causesOf({ ...NOTHING, at: new Date().toISOString(), around })
}

/** The facts without a database: all are unknown. */
export const NOTHING = {
  flow: null,
  running: null,
  machines: null,
  queues: null,
  outlets: null,
  quarantine: null,
  missing: [],
  unread: [],
}

async function hostsIn(catalogue: string): Promise<string[]> {
  const { outlets } = readCatalogue(await readFile(catalogue, 'utf8'))
  return outlets.flatMap(({ feeds }) => feeds.slice(0, 1).map(url => new URL(url).hostname))
}
