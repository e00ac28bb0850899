/**
 * How a collection is kept; `docs/search-by-meaning.md` says what it costs at 10 million vectors.
 *
 * Full vectors lie on disk (mapped, so that what is used stays in the page cache); in memory are
 * one byte a number, to walk the graph with, and the graph. The nearest are then compared by their
 * full vectors.
 */
export const COLLECTION = (dimensions: number) => ({
  vectors: { size: dimensions, distance: 'Cosine' as const, on_disk: true },
  hnsw_config: { m: 16, ef_construct: 100, on_disk: false },
  quantization_config: { scalar: { type: 'int8' as const, quantile: 0.99, always_ram: true } },
  on_disk_payload: true,
})

/** What a plan's coverage is looked up by, inside the search. */
export const PAYLOAD_INDEXES = [
  ['country', 'keyword'],
  ['covered_at', { type: 'integer', lookup: false, range: true }],
] as const

/**
 * For each candidate wanted, how many the graph keeps in sight at least (a segment is asked for its
 * share of those wanted, when there are several), and how many are compared by their full vectors.
 * Where a filter hides countries the graph leads less straight. Chosen by hand, for a recall of
 * 0.98 among 500, which `bench -- semantic --rows N` prints.
 */
const BREADTH = { whole: { inSight: 0.6, compared: 1.2 }, part: { inSight: 1.2, compared: 1.2 } }

/** @param part whether the search sees some countries only */
export function searchParameters(limit: number, { exact, part }: { exact: boolean; part: boolean }) {
  if (exact) return { exact: true }
  const { inSight, compared } = part ? BREADTH.part : BREADTH.whole
  return { hnsw_ef: Math.ceil(limit * inSight), quantization: { rescore: true, oversampling: compared } }
}
