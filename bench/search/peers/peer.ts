import type { PeerDocument, PeerQuestion } from './documents.ts'

/** The engines that `--peers` can name. */
export const PEERS = ['postgres', 'lucene'] as const
export type PeerKey = (typeof PEERS)[number]

/** Another search engine over the same articles, cut into the same words. */
export interface Peer {
  /** Its name in the names of figures. */
  key: PeerKey
  /** Name, version and settings, for people. */
  title: string
  add(documents: PeerDocument[]): Promise<void>
  /** Finishes building: indexes, statistics. */
  finish(): Promise<void>
  /** @returns null: it gave up at the time limit */
  ask(question: PeerQuestion): Promise<PeerAnswer | null>
  /** Its processes. */
  pids(): Promise<number[]>
  /** MB of its index on disk. */
  disk(): Promise<number>
}

export interface PeerAnswer {
  /** The articles of the page as the contract shows them. */
  rows: ShownArticle[]
  /** Counted to the cap; null: not asked for. */
  total: number | null
  /** ms, as close to the engine as can be measured. For a server: the whole request. */
  ms: number
}

/** The fields that comparisons read, of an article as the contract shows it. */
export interface ShownArticle {
  id: string
  published_at: string | null
  ingested_at: string
}

/** ms that one query may take. A slower one counts as this much. */
export const LIMIT_MS = 2_000
