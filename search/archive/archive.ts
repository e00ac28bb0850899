import { counter } from '../../shared/log/registry.ts'
import type { Collector } from '../execute/collectors/collector.ts'
import type { SearchPlan } from '../execute/plan.ts'
import type { StoredPart } from '../execute/stored-part.ts'
import { type Ahead, inOrder, type Visit } from '../execute/visit.ts'
import type { ArchiveIndex, ArchiveMeta } from '../store/archive-store.ts'
import { SegmentsChanged } from '../store/segment-store.ts'
import { readAnswer, type SearchAnswer } from './answers.ts'
import type { ArchiveClient } from './client.ts'
import { type Clause, clauseOf, filterClauses, scored } from './query.ts'
import { type ArchiveQuestion, pageOf, questionOf } from './request.ts'

const failures = counter('archive_failures_total', 'Searches that the archive index failed to answer in time.')

/** Indices in one request: their names must fit its first line, which has at most 4 kB. */
const INDICES = 32

/** ms after which another node is asked. */
const EACH = 5_000

/**
 * The archive as a part of a search: the articles that its indices cover are matched in OpenSearch.
 * It finds what segments would find, because both have the same terms.
 *
 * @param isCurrent whether the segments and the archive are still those that the search began with
 */
export function archivePart(
  client: ArchiveClient,
  { indices, covered }: ArchiveMeta,
  { node, scoring, filter }: SearchPlan,
  visit: Visit,
  isCurrent: () => Promise<boolean>,
): StoredPart {
  const watermark = filter.watermark < covered ? filter.watermark : covered
  const own = { ...filter, watermark, above: 0n }
  const ahead = inOrder(indices, visit, own)
  const words: Clause[] = node === null ? [] : [clauseOf(node)]

  const matchSome = async (some: Ahead<ArchiveIndex>[], collectors: readonly Collector[]) => {
    const asked = some.map(one => one.segment)
    const question = questionOf(collectors.map(collector => collector.aggregation))
    const condition: Clause = { bool: { filter: [...words, ...filterClauses(own, asked)] } }
    const isScored = question.page?.scored === true
    const query = isScored ? scored(condition, scoring) : condition
    const search = async (body: Record<string, unknown>) =>
      readAnswer(await client.send(searchRequest(asked, { ...body, query })), isScored)
    await ask(question, search)
  }
  return {
    startsAt: ahead[0]?.startsAt ?? null,
    async match(collectors) {
      try {
        for (let from = 0; from < ahead.length; from += INDICES) {
          const next = ahead[from]!.startsAt
          if (from > 0 && collectors.every(collector => collector.isComplete(next))) return
          await matchSome(ahead.slice(from, from + INDICES), collectors)
        }
      } catch (error) {
        // An index that was replaced meanwhile is gone, and the search starts again without it.
        if (!(await isCurrent())) throw new SegmentsChanged('the archive changed during a search')
        failures.inc()
        throw error
      }
    },
  }
}

/** Takes answers in only when all are there, so that no collector has a part of them. */
async function ask(
  { body, pages, take }: ArchiveQuestion,
  search: (body: Record<string, unknown>) => Promise<SearchAnswer>,
): Promise<void> {
  const asksMore = body.size !== 0 || body.track_total_hits !== false || body.aggs !== undefined
  if (asksMore) take(await search(body))
  for (const page of pages) {
    let after: unknown = null
    do {
      const { buckets, after: next } = (await search(pageOf(page, after))).composite(page.name)
      for (const bucket of buckets) page.take(bucket)
      after = buckets.length === 0 ? null : (next ?? null)
    } while (after !== null)
  }
}

const SEARCH = [
  // A missing index or shard is an error, never a shorter page.
  'allow_partial_search_results=false',
  'ignore_unavailable=false',
  `cancel_after_time_interval=${EACH}ms`,
  'filter_path=timed_out,_shards.failed,hits.total,hits.hits.fields,hits.hits.sort,aggregations',
].join('&')

const searchRequest = (indices: ArchiveIndex[], body: Record<string, unknown>) => ({
  method: 'POST' as const,
  path: `/${indices.map(index => index.name).join(',')}/_search?${SEARCH}`,
  body: JSON.stringify(body),
  each: EACH,
})
