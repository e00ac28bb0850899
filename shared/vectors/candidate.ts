export interface Candidate {
  seq: bigint
  /** Cosine similarity. */
  score: number
}
