import t from 'tap'
import { relevanceOf } from './candidate-sets.ts'

t.test('relevance is the cosine clamped to 0–1, rounded half up to four decimals (decision 27)', async t => {
  for (const [score, relevance] of [
    [0.85004999, 8500],
    [0.85005, 8501],
    [0.12345, 1235],
    [1.0000001, 10_000],
    [-0.2, 0],
    [0, 0],
  ] as const)
    t.equal(relevanceOf(score), relevance, String(score))
})
