/**
 * How a collection is kept; `docs/search-by-meaning.md` says what it costs at 10 million vectors.
 *
 * Full vectors lie on disk (mapped, so that what is used stays in the page cache); in memory are one byte a number, to walk
 * the graph with, and the graph. The nearest are then compared by their full vectors.
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

/** Candidates the graph keeps in sight for each one wanted: measured for a recall of 0.98 among 500 (`bench/semantic`). */
const BREADTH = 1.5
/** Candidates by their bytes that are compared by their full vectors, for each one wanted. */
const OVERSAMPLING = 1.5

export const searchParameters = (limit: number, exact: boolean) =>
  exact
    ? { exact: true }
    : { hnsw_ef: Math.ceil(limit * BREADTH), quantization: { rescore: true, oversampling: OVERSAMPLING } }
