import { randomBytes } from 'node:crypto'
import type { ArchiveIndexState, ArchiveStore } from '../store/archive-store.ts'
import type { ArticleSource } from '../store/article-source.ts'
import type { SegmentRange } from '../store/segment-store.ts'
import type { ArchiveClient } from './client.ts'
import { createIndex, deleteIndex, hasAll, makeSearchable } from './indices.ts'
import { ANALYSIS, type IndexShape } from './mapping.ts'
import { createSender, type Sender } from './send.ts'

/** How the archive is filled. */
export interface FillOptions {
  /** Articles up to this `seq` are to be in it. */
  until: bigint
  shape: IndexShape
  /** Articles in one index. */
  size: bigint
  /** Articles after which searches may find the new ones. */
  step: bigint
  prefix: string
  /** Told of articles that were put in, and waited for. */
  worked(articles: number): Promise<void>
  signal: AbortSignal
}

/** The parts of a run. */
export interface Filling extends FillOptions {
  client: ArchiveClient
  store: ArchiveStore
  source: ArticleSource
}

/**
 * Puts articles into the archive, while everything runs. First it builds indices anew that are of
 * another version or miss articles, then it goes on where the archive ends.
 *
 * @returns false: it was interrupted; the next run goes on
 */
export async function fillArchive(run: Filling): Promise<boolean> {
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

/** Articles that a run puts in: those of stale indices, and those that are new. */
export async function countDue({ client, store, until }: Pick<Filling, 'client' | 'store' | 'until'>): Promise<number> {
  await findDamage({ client, store })
  const all = await store.readIndices()
  const stale = all.filter(one => one.state === 'serving' && one.analysis !== ANALYSIS)
  const again = stale.reduce((sum, one) => sum + Number(one.filledTo - one.range.first) + 1, 0)
  const beyond = Number(until - coveredBy(all))
  return again + Math.max(0, beyond)
}

/** Deletes indices that no search uses any more. */
export async function deleteRetired({ client, store }: Pick<Filling, 'client' | 'store'>): Promise<number> {
  const retired = (await store.readIndices()).filter(one => one.state === 'retired')
  for (const { name } of retired) {
    await deleteIndex(client, name)
    await store.forget(name)
  }
  return retired.length
}

/** Indices that are gone, or miss articles that they had, are to be built anew. */
async function findDamage({ client, store }: Pick<Filling, 'client' | 'store'>): Promise<void> {
  const damaged: string[] = []
  for (const { name, state, range, filledTo } of await store.readIndices()) {
    if (state === 'retired' || filledTo < range.first) continue
    if (!(await hasAll(client, name, { first: range.first, last: filledTo }))) damaged.push(name)
  }
  if (damaged.length > 0) await store.markStale(damaged)
}

/** Builds an index anew beside the old one, which serves until then. */
async function rebuild(run: Filling, sender: Sender, old: ArchiveIndexState): Promise<boolean> {
  const { store } = run
  const begun = (await store.readIndices()).filter(
    one => one.state === 'building' && one.range.first === old.range.first,
  )
  const usable = begun.find(one => one.analysis === ANALYSIS && one.range.last >= old.filledTo)
  await store.retire(begun.filter(one => one !== usable).map(one => one.name))
  const index = usable ?? (await addIndex(run, old.range, 'building'))
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
    const open = all.find(one => one.state === 'serving' && one.range.first <= next && one.range.last >= next)
    const index = open ?? (await addIndex(run, { first: next, last: covered + size }, 'serving'))
    const to = index.range.last < until ? index.range.last : until
    if (!(await fillIndex(run, sender, index, to))) return false
  }
}

const coveredBy = (all: ArchiveIndexState[]): bigint =>
  all.reduce((covered, one) => (one.state === 'serving' && one.filledTo > covered ? one.filledTo : covered), 0n)

async function addIndex(
  { client, store, shape, prefix }: Filling,
  range: SegmentRange,
  state: 'building' | 'serving',
): Promise<ArchiveIndexState> {
  // A name is never used twice, so a search cannot take a new index for the one that it knew.
  const name = `${prefix}-${range.first}-${randomBytes(4).toString('hex')}`
  const index: ArchiveIndexState = { name, range, filledTo: range.first - 1n, state, analysis: ANALYSIS }
  await store.add(index)
  await createIndex(client, name, shape)
  return index
}

/** Fills an index up to a `seq`, and lets searches find the articles step by step. */
async function fillIndex(run: Filling, sender: Sender, index: ArchiveIndexState, to: bigint): Promise<boolean> {
  const { client, store, shape, step, signal } = run
  // An interrupted run may have added it and not made it.
  if (index.filledTo < index.range.first) await createIndex(client, index.name, shape)
  for (let from = index.filledTo + 1n; from <= to; from += step) {
    const last = from + step - 1n < to ? from + step - 1n : to
    const filled = await sender.send(index.name, { first: from, last }, signal)
    if (filled === null) return false
    await makeSearchable(client, index.name, { first: index.range.first, last })
    await store.advance(index.name, last, filled)
  }
  return true
}
