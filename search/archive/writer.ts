import { randomBytes } from 'node:crypto'
import { SEGMENT_SIZES } from '../indexing/policy.ts'
import { segmentOf } from '../indexing/segments.ts'
import type { Pool } from '../postgres.ts'
import type { ArticleSource } from '../store/article-source.ts'
import { postgresArticles } from '../store/postgres-articles.ts'
import { openSegmentWriter, readCovered } from '../store/postgres-segment-writer.ts'
import { openReads, partsOf, type SegmentRange } from '../store/segment-store.ts'
import { numberOf, recordOf } from './answers.ts'
import { type ArchiveClient, type ArchiveSettings, openArchiveClient } from './client.ts'
import { ANALYSIS, type IndexShape } from './documents.ts'
import {
  createIndex,
  createSender,
  deleteDocuments,
  deleteIndex,
  hasAll,
  hasDocument,
  makeSearchable,
  purge,
  type Sender,
} from './send.ts'
import { type ArchiveIndexState, type ArchiveStore, openArchiveStore } from './state.ts'

export { ANALYSIS, documentOf, indexBody } from './documents.ts'

/*
 * The archive follows the segments: it takes in older articles, and their segments may then be
 * dropped. A run can be killed at any point. The next run reads the state from Postgres and goes
 * on.
 */

/** How many articles `fillIndex` sends before it makes them searchable. */
const STEP = 65_536n

export interface ArchiveWriterOptions extends IndexShape {
  /** How many articles one index has. */
  size: bigint
  /** How many of the newest articles stay out of the archive. */
  recent: bigint
  /** Replaces `STEP`. Tests make it small. */
  step?: bigint
  /** How many articles a restored segment has. */
  segment?: bigint
}

/** Called with a number of finished articles. The work goes on when the promise resolves. */
type Worked = (articles: number) => Promise<void>

/** Fills and empties the archive. */
export interface ArchiveWriter {
  /** How many articles `fill` would send. */
  countDue(): Promise<number>
  /** Puts due articles into the archive. @returns false: `signal` interrupted it */
  fill(worked: Worked, signal: AbortSignal): Promise<boolean>
  /** Marks every index, so that `fill` builds it anew. */
  markStale(): Promise<void>
  /**
   * Drops the segments of the articles that the archive has. @returns false: `signal` interrupted
   * it
   */
  release(worked: Worked, signal: AbortSignal): Promise<boolean>
  /**
   * Makes released segments anew, then deletes every index. @returns false: `signal` interrupted
   * it
   */
  empty(worked: Worked, signal: AbortSignal): Promise<boolean>
  /** For how many articles `release` would drop segments, or `empty` would make segments. */
  countReleased(task: 'release' | 'empty'): Promise<number>
  /**
   * Runs work while no other process changes the archive. @returns null: another process changes
   * it
   */
  exclusively: <T>(work: () => Promise<T>) => Promise<T | null>
  close(): Promise<void>
}

export function openArchiveWriter(
  pool: Pool,
  settings: ArchiveSettings,
  options: ArchiveWriterOptions,
): ArchiveWriter {
  const client = openArchiveClient(settings)
  const store = openArchiveStore(pool)
  const { recent, segment = SEGMENT_SIZES.merged } = options
  /**
   * The last `seq` for the archive. Articles without a segment, and the newest `recent` articles,
   * stay out.
   */
  const until = async () => {
    const covered = await readCovered(pool)
    const newest = (await openSegmentWriter(pool).readLastSeq()) - recent
    return newest < covered ? newest : covered
  }
  return {
    countDue: async () => countDue({ client, store, until: await until() }),
    async fill(worked, signal) {
      const source = postgresArticles(openReads(pool))
      const { prefix } = settings
      return fillArchive({
        ...options,
        client,
        store,
        source,
        prefix,
        worked,
        signal,
        until: await until(),
      })
    },
    async markStale() {
      const serving = (await store.readIndices()).filter(one => one.state === 'serving')
      await store.markStale(serving.map(one => one.name))
    },
    async release(worked, signal) {
      while (!signal.aborted) {
        const articles = await store.releaseNext()
        if (articles === 0) return true
        await worked(articles)
      }
      return false
    },
    async empty(worked, signal) {
      if (!(await restoreSegments(pool, store, segment, worked, signal))) return false
      await store.retireAll()
      await deleteRetired({ client, store })
      return true
    },
    async countReleased(task) {
      const released = Number(await store.readReleasedTo())
      if (task === 'empty') return released
      const all = await store.readIndices()
      return all.reduce(
        (most, one) =>
          Math.max(most, one.state === 'serving' ? Number(one.filledTo) - released : 0),
        0,
      )
    },
    exclusively: store.exclusively,
    close: client.close,
  }
}

/** The inputs of a run of `fillArchive`. */
interface Filling extends Omit<ArchiveWriterOptions, 'recent' | 'segment'> {
  client: ArchiveClient
  store: ArchiveStore
  source: ArticleSource
  /** The archive should have all articles up to this `seq`. */
  until: bigint
  prefix: string
  worked: Worked
  signal: AbortSignal
}

/**
 * Puts articles into the archive while searches go on. First it builds stale and damaged indices
 * anew. Then it adds the articles that come after the last index.
 *
 * @returns false: it was interrupted; the next run goes on
 */
async function fillArchive(run: Filling): Promise<boolean> {
  const { store, signal } = run
  await deleteRetired(run)
  await findDamage(run)
  const sender = createSender(run)
  for (const old of await store.readIndices()) {
    if (signal.aborted) return false
    const isStale = old.state === 'serving' && old.analysis !== ANALYSIS
    if (isStale && !(await rebuild(run, sender, old))) return false
  }
  return extend(run, sender)
}

/** How many articles a run would send: all articles of stale indices, and the new ones. */
async function countDue({
  client,
  store,
  until,
}: Pick<Filling, 'client' | 'store' | 'until'>): Promise<number> {
  await findDamage({ client, store })
  const all = await store.readIndices()
  const stale = all.filter(one => one.state === 'serving' && one.analysis !== ANALYSIS)
  const again = stale.reduce((sum, one) => sum + Number(one.filledTo - one.first) + 1, 0)
  const beyond = Number(until - coveredBy(all))
  return again + Math.max(0, beyond)
}

/** Deletes retired indices, because no search uses them. */
async function deleteRetired({ client, store }: Pick<Filling, 'client' | 'store'>): Promise<void> {
  const retired = (await store.readIndices()).filter(one => one.state === 'retired')
  if (retired.length > 0) await reach(client)
  for (const { name } of retired) {
    await deleteIndex(client, name)
    await store.forget(name)
  }
}

/**
 * Marks an index as stale when OpenSearch has lost it or some of its articles. The run then builds
 * the index anew.
 */
async function findDamage({ client, store }: Pick<Filling, 'client' | 'store'>): Promise<void> {
  await reach(client)
  const damaged: string[] = []
  for (const { name, state, first, filledTo } of await store.readIndices()) {
    if (state === 'retired' || filledTo < first) continue
    if (!(await hasAll(client, name, { first, last: filledTo }, store.readRemoved)))
      damaged.push(name)
  }
  if (damaged.length > 0) await store.markStale(damaged)
}

/** Builds an index anew beside the old one. The old one serves until the new one is complete. */
async function rebuild(run: Filling, sender: Sender, old: ArchiveIndexState): Promise<boolean> {
  const { store } = run
  const begun = (await store.readIndices()).filter(
    one => one.state === 'building' && one.first === old.first,
  )
  const usable = begun.find(one => one.analysis === ANALYSIS && one.last >= old.filledTo)
  await store.retire(begun.filter(one => one !== usable).map(one => one.name))
  const index = usable ?? (await addIndex(run, old, 'building'))
  if (!(await fillIndex(run, sender, index, old.filledTo))) return false
  await store.replace(index.name)
  await deleteRetired(run)
  return true
}

async function extend(run: Filling, sender: Sender): Promise<boolean> {
  const { store, until, size } = run
  for (;;) {
    const all = await store.readIndices()
    const covered = coveredBy(all)
    if (covered >= until) return true
    const next = covered + 1n
    const open = all.find(one => one.state === 'serving' && one.first <= next && one.last >= next)
    const index = open ?? (await addIndex(run, { first: next, last: covered + size }, 'serving'))
    const to = index.last < until ? index.last : until
    if (!(await fillIndex(run, sender, index, to))) return false
  }
}

const coveredBy = (all: ArchiveIndexState[]): bigint =>
  all.reduce(
    (covered, one) => (one.state === 'serving' && one.filledTo > covered ? one.filledTo : covered),
    0n,
  )

async function addIndex(
  { client, store, shards, replicas, prefix }: Filling,
  { first, last }: SegmentRange,
  state: 'building' | 'serving',
): Promise<ArchiveIndexState> {
  // Every name is used once. So a search cannot mistake a new index for the old one of the same
  // range.
  const name = `${prefix}-${first}-${randomBytes(4).toString('hex')}`
  const index: ArchiveIndexState = {
    name,
    first,
    last,
    filledTo: first - 1n,
    state,
    analysis: ANALYSIS,
  }
  await store.add(index)
  await createIndex(client, name, { shards, replicas })
  return index
}

/** Fills an index up to a `seq`, and lets searches find the articles step by step. */
async function fillIndex(
  run: Filling,
  sender: Sender,
  index: ArchiveIndexState,
  to: bigint,
): Promise<boolean> {
  const { client, store, shards, replicas, step = STEP, signal } = run
  // An interrupted run may have noted the index in Postgres before it made the index in OpenSearch.
  if (index.filledTo < index.first) await createIndex(client, index.name, { shards, replicas })
  for (const part of partsOf({ first: index.filledTo + 1n, last: to }, step)) {
    const filled = await sender.send(index.name, part, signal)
    if (filled === null) return false
    // What is taken out from here on is deleted by whoever takes it out.
    await deleteDocuments(client, index.name, await store.readRemoved(part))
    const range = { first: index.first, last: part.last }
    await makeSearchable(client, index.name, range, store.readRemoved)
    await store.advance(index.name, part.last, filled)
  }
  return true
}

/**
 * Makes released segments anew from the words of their articles. The newest come first, so that the
 * ranges of segments have no gap. Searches use the archive until the segments are there.
 *
 * @param size articles of each segment
 * @param worked told of articles that have a segment again
 * @returns false: it was interrupted; the next call goes on
 */
async function restoreSegments(
  pool: Pool,
  store: ArchiveStore,
  size: bigint,
  worked: Worked,
  signal: AbortSignal,
) {
  const writer = openSegmentWriter(pool)
  const source = postgresArticles(openReads(pool))
  for (;;) {
    const last = await store.readReleasedTo()
    if (last === 0n) return true
    if (signal.aborted) return false
    const range = { first: ((last - 1n) / size) * size + 1n, last }
    await writer.exclusively('merge', true, async () => {
      await writer.replace(await segmentOf(source, range), {
        within: client => store.restored(client, range.first - 1n),
      })
    })
    await worked(Number(range.last - range.first) + 1)
  }
}

/** Takes articles out of the archive. */
export interface ArchiveClearing {
  /** Deletes the documents of some articles. */
  clear(seqs: bigint[]): Promise<void>
  /** Makes their words leave the disks. */
  end(signal: AbortSignal): Promise<void>
  /** How many documents an article has. */
  count(seq: bigint): Promise<number>
}

/** Opens the archive for the clearing of articles that were taken out. */
export function openArchiveClearing(pool: Pool, settings: ArchiveSettings): ArchiveClearing {
  const store = openArchiveStore(pool)
  const touched = new Set<string>()
  const withClient = <T>(work: (client: ArchiveClient) => Promise<T>): Promise<T> => {
    const client = openArchiveClient(settings)
    return reach(client)
      .then(() => work(client))
      .finally(client.close)
  }
  return {
    clear: seqs =>
      withClient(async client => {
        for (const { name, first, last } of await store.readIndices()) {
          const own = seqs.filter(seq => seq >= first && seq <= last).map(Number)
          if (own.length > 0) touched.add(name)
          await deleteDocuments(client, name, own)
        }
      }),
    end: signal =>
      withClient(async client => {
        for (const name of touched) await purge(client, name, signal)
      }),
    count: seq =>
      withClient(async client => {
        const indices = await store.readIndices()
        const own = indices.filter(({ first, last }) => seq >= first && seq <= last)
        const found = await Promise.all(own.map(({ name }) => hasDocument(client, name, seq)))
        return found.filter(Boolean).length
      }),
  }
}

/** The nodes of OpenSearch, and the copies of the shards of the archive's indices. */
export interface ArchiveHealth {
  nodes: number
  /** Copies of shards that a node serves. The first copy of each shard counts too. */
  active: number
  /**
   * Copies of shards that no node has. After the loss of a node, its copies count until other
   * nodes have taken them.
   */
  unassigned: number
}

/**
 * `WITHIN`: ms for the request with all its tries. `EACH`: ms for one try; then another node is
 * asked.
 */
const WITHIN = 3_000
const EACH = 1_000

/**
 * Fails soon when no node answers. Requests that write wait much longer, because a node that
 * answers may be busy.
 *
 * @throws ArchiveFailure
 */
const reach = (client: ArchiveClient): Promise<unknown> =>
  client.send({ method: 'GET', path: '/_cluster/health?local=true', within: WITHIN, each: EACH })

/**
 * Reads the health of the archive's nodes and shards from OpenSearch.
 *
 * @throws ArchiveFailure
 */
export async function readArchiveHealth(settings: ArchiveSettings): Promise<ArchiveHealth> {
  const client = openArchiveClient(settings)
  try {
    const path = `/_cluster/health/${settings.prefix}-*?expand_wildcards=all`
    const answer = recordOf(await client.send({ method: 'GET', path, within: WITHIN, each: EACH }))
    return {
      nodes: numberOf(answer.number_of_nodes),
      active: numberOf(answer.active_shards),
      unassigned: numberOf(answer.unassigned_shards),
    }
  } finally {
    await client.close()
  }
}
