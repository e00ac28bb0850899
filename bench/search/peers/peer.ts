import type { PeerDocument } from './documents.ts'
import type { PeerQuestion } from './questions.ts'

/** The engines that `--peers` can name. */
export const PEERS = ['postgres', 'lucene'] as const
export type PeerKey = (typeof PEERS)[number]

/** Another search engine over the same articles, cut into the same words. */
export interface Peer {
  /** Its name in the names of figures. */
  key: PeerKey
  /** Name and version. */
  title: string
  /** Its settings, for the table. */
  settings: string
  /** True when it holds the articles from an earlier run. */
  built: boolean
  /**
   * Takes articles in the order of publication, those without a date first. Only when not built.
   */
  add(documents: PeerDocument[]): Promise<void>
  /** Finishes building: indexes, statistics. */
  finish(): Promise<void>
  ask(question: PeerQuestion): Promise<PeerAnswer>
  close(): Promise<void>
}

export interface PeerAnswer {
  /** Numbers of the page's articles, in order. */
  seqs: number[]
  /** The articles of the page as the contract shows them, as JSON. */
  rows: string[]
  /** Counted to the cap; null: not asked for. */
  total: number | null
  /** ms, as close to the engine as can be measured. For a server: the whole request. */
  ms: number
}

/** The engine, or its driver, gave up a query at the time limit. */
export class OverLimit extends Error {
  override name = 'OverLimit'
}

/** ms that one query may take. A slower one counts as this much. */
export const LIMIT_MS = 2_000
