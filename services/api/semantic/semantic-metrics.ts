import { counter, gauge, histogram } from '../../../shared/log/registry.ts'
import { noteWait } from '../../../shared/log/waits.ts'

/** `vector`: kept, joined (equal questions under way), embedded, failed */
export const questions = counter(
  'semantic_questions_total',
  'Questions by the source of their vector: kept, joined to an equal question under way, embedded, failed.',
  ['vector'],
)

const steps = histogram(
  'semantic_seconds',
  'Time of the steps of a semantic search: set (looked up, kept), model, vectors, page (filters, order, articles).',
  [0.001, 0.002, 0.003, 0.005, 0.0075, 0.01, 0.015, 0.02, 0.03, 0.04, 0.055, 0.075, 0.1, 0.2, 0.5, 1, 2],
  ['step'],
)

/** Measures a step, whether it succeeds or fails. */
export async function timed<T>(step: 'set' | 'model' | 'vectors' | 'page', work: () => Promise<T>): Promise<T> {
  const start = performance.now()
  try {
    return await work()
  } finally {
    const ms = performance.now() - start
    steps.observe({ step }, ms / 1_000)
    noteWait(step, ms)
  }
}

/** Shows what the vectors of questions take in memory. */
export function observeQuestionVectors(stats: () => { limit: number; used: number }): void {
  gauge(
    'semantic_cache_bytes',
    'Bytes of the kept vectors of questions: in use, and the limit.',
    ['kind'],
    async () => stats(),
    (set, { used, limit }) => {
      set({ kind: 'used' }, used)
      set({ kind: 'limit' }, limit)
    },
  )
}
