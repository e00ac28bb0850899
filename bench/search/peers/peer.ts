import type { PeerDocument } from './documents.ts'
import type { PeerQuestion } from './questions.ts'

/** Another search engine over the same articles, cut into the same words. */
export interface Peer {
  /** As it stands in the names of figures. */
  key: 'postgres' | 'sqlite' | 'mariadb' | 'tantivy'
  /** Name and version. */
  title: string
  /** How it is set up, for the table. */
  settings: string
  /** Whether it holds the articles from an earlier run. */
  built: boolean
  /**
   * Takes articles in the order of publication, those without a date first. Only when not built.
   */
  add(documents: PeerDocument[]): Promise<void>
  /** Ends the building: indexes, statistics. */
  finish(): Promise<void>
  ask(question: PeerQuestion): Promise<PeerAnswer>
  close(): Promise<void>
}

export interface PeerAnswer {
  /** Numbers of the page's articles, in order. */
  seqs: number[]
  /** Counted to the cap; null: not asked for. */
  total: number | null
  /** ms, as close to the engine as can be measured. */
  ms: number
}

/** The engine, or its driver, gave a question up at the limit. */
export class OverLimit extends Error {
  override name = 'OverLimit'
}

/** ms that one question may take; what takes longer counts as so much. */
export const LIMIT_MS = 2_000
