/** Cosine similarity clamped to 0–1, × 10,000, rounded half up (decision 27). */
export function relevanceOf(score: number): number {
  return Math.floor(Math.min(Math.max(score, 0), 1) * 10_000 + 0.5)
}
