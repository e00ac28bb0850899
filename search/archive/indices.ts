import type { SegmentRange } from '../store/segment-store.ts'
import { numberOf, recordOf } from './answers.ts'
import { type ArchiveClient, ArchiveFailure } from './client.ts'
import { type IndexShape, indexBody } from './mapping.ts'

/** ms for requests that change an index: others may keep the nodes busy. */
const WITHIN = 120_000

/**
 * An index is written through an alias: OpenSearch then never makes a lost index anew by itself.
 */
export const writingAlias = (index: string) => `${index}-w`

/** Makes an index, unless it is there. */
export async function createIndex(client: ArchiveClient, name: string, shape: IndexShape): Promise<void> {
  try {
    const body = JSON.stringify({ ...indexBody(shape), aliases: { [writingAlias(name)]: {} } })
    await client.send({ method: 'PUT', path: `/${name}`, body, within: WITHIN })
  } catch (error) {
    const isThere = error instanceof ArchiveFailure && error.message.includes('resource_already_exists_exception')
    if (!isThere) throw error
  }
}

/** Deletes an index, if it is there. */
export async function deleteIndex(client: ArchiveClient, name: string): Promise<void> {
  try {
    await client.send({ method: 'DELETE', path: `/${name}`, within: WITHIN })
  } catch (error) {
    if (!isMissing(error)) throw error
  }
}

const isMissing = (error: unknown) => error instanceof ArchiveFailure && error.status === 404

/**
 * Makes everything that was sent to an index searchable, on every copy of its shards, and counts
 * it.
 *
 * @throws ArchiveFailure when a shard did not acknowledge it, or an article is missing
 */
export async function makeSearchable(client: ArchiveClient, name: string, range: SegmentRange): Promise<void> {
  const { _shards: shards } = recordOf(await client.send({ method: 'POST', path: `/${name}/_refresh`, within: WITHIN }))
  const { failed, successful } = recordOf(shards)
  if (failed !== 0 || numberOf(successful) < 1)
    throw new ArchiveFailure(`A shard of ${name} was not refreshed; the same command goes on.`, null)
  if (await hasAll(client, name, range)) return
  throw new ArchiveFailure(`${name} misses articles that were put into it; the same command builds it anew.`, null)
}

/** Whether an index has every article of a range. */
export async function hasAll(client: ArchiveClient, name: string, { first, last }: SegmentRange): Promise<boolean> {
  const query = { range: { seq: { gte: Number(first), lte: Number(last) } } }
  try {
    const path = `/${name}/_count`
    const answer = recordOf(
      await client.send({ method: 'POST', path, body: JSON.stringify({ query }), within: WITHIN }),
    )
    if (recordOf(answer._shards).failed !== 0)
      throw new ArchiveFailure(`A shard of ${name} is away; run the same command when OpenSearch is whole.`, null)
    // Numbers have no gaps.
    return numberOf(answer.count) === Number(last - first) + 1
  } catch (error) {
    if (isMissing(error)) return false
    throw error
  }
}
