/**
 * The storage of a collection; `docs/search-by-meaning.md` states its cost at 10 million vectors.
 *
 * Full vectors are on disk, mapped, so that used ones stay in the page cache. The graph is in
 * memory, with one byte a dimension to walk it. The nearest vectors are then compared in full.
 */
export const COLLECTION = (dimensions: number) => ({
  vectors: { size: dimensions, distance: 'Cosine' as const, on_disk: true },
  hnsw_config: { m: 16, ef_construct: 100, on_disk: false },
  quantization_config: { scalar: { type: 'int8' as const, quantile: 0.99, always_ram: true } },
  on_disk_payload: true,
})

/** The fields by which a search applies a plan's coverage. */
export const PAYLOAD_INDEXES = [
  ['country', 'keyword'],
  ['covered_at', { type: 'integer', lookup: false, range: true }],
] as const

/**
 * Parameters of a search, by the candidates that are wanted: the least number that the walk keeps
 * (each of several segments is asked for its share), and the number that is compared in full. With
 * a filter by country fewer need be compared, because ACORN (below) finds more. The numbers were
 * chosen by hand for a recall of 0.99 among 500, which `bench -- semantic --rows N` prints.
 */
const BREADTH = { whole: { inSight: 0.6, compared: 1.2 }, part: { inSight: 0.6, compared: 1 } }

/**
 * Where a filter leaves at most this share of the vectors, the walk also goes through vectors that
 * do not pass to their neighbours (ACORN, Qdrant 1.16). Otherwise it may not reach some that do. An
 * older Qdrant ignores this.
 */
const SPARSE = 0.4

/** @param part whether the search is limited to some countries */
export function searchParameters(limit: number, { exact, part }: { exact: boolean; part: boolean }) {
  if (exact) return { exact: true }
  const { inSight, compared } = part ? BREADTH.part : BREADTH.whole
  return {
    hnsw_ef: Math.ceil(limit * inSight),
    quantization: { rescore: true, oversampling: compared },
    ...(part ? { acorn: { enable: true, max_selectivity: SPARSE } } : {}),
  }
}
