import type { Family } from './supervision/family.ts'
import type { Program, Supervised } from './supervision/supervise.ts'

export type ServerName = 'postgres' | 'qdrant' | 'model'

/**
 * The addresses of the servers, under the names of the settings. A server that this machine cannot
 * run is left out.
 */
export type Addresses = Partial<Record<'DATABASE_URL' | 'QDRANT_URL' | 'EMBEDDINGS_URL', string>>

/** The keys that the servers require, under the names of the settings. */
export type Keys = Partial<Record<'QDRANT_API_KEY' | 'EMBEDDINGS_API_KEY', string>>

/** The folder, options and functions that each server's start uses. */
export interface Starting {
  /** The path of `DATA_DIR`. */
  dataDir: string
  /** Whether the servers are for a test: see `ServerOptions`. */
  throwaway: boolean
  family: Family
  /** Aborts an unfinished start. */
  signal: AbortSignal
  report: (sentence: string) => void
  /** Takes the lock of a server's data, which is released after all servers have ended. */
  lock(server: ServerName, name: string): Promise<number>
  /** The path of the log of a server. */
  logOf(server: ServerName): string
  /** Starts a program and keeps it running. */
  run(program: Program): Promise<Supervised>
}
