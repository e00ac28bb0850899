import type { Asking } from '#bench/load'
import type { PeerDocument, PeerQuestion } from './documents.ts'

/** The engines that `--peers` can name. */
export const PEERS = ['postgres', 'lucene', 'opensearch'] as const
export type PeerKey = (typeof PEERS)[number]

/** Another search engine. It has the same articles, and their words are the same. */
export interface Peer {
  /** How names of figures name the peer. */
  key: PeerKey
  /** Name, version and settings of the peer, for people. */
  title: string
  /** Set for a server that answers over HTTP: its address, and a question in its form. */
  http?: { base: string; request(question: PeerQuestion): Asking }
  add(documents: PeerDocument[]): Promise<void>
  /** Finishes building, for example indexes and statistics. */
  finish(): Promise<void>
  /** @returns null: the peer stopped at the time limit */
  ask(question: PeerQuestion): Promise<PeerAnswer | null>
  /** The ids of the peer's processes. */
  pids(): Promise<number[]>
  /** MB of the peer's index on disk. */
  disk(): Promise<number>
}

export interface PeerAnswer {
  /** The articles of the page as the contract shows them. */
  rows: ShownArticle[]
  /** The total, counted up to the cap. Null: the question asked for no total. */
  total: number | null
  /** ms, measured as close to the engine as possible. For a server, ms of the whole request. */
  ms: number
}

/** The fields of an article that comparisons read. The article is as the contract shows it. */
export interface ShownArticle {
  id: string
  published_at: string | null
  ingested_at: string
}

/** ms that one query may take. A query that takes longer counts as this many. */
export const LIMIT_MS = 2_000
