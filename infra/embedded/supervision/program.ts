import type { Owner } from '../owner.ts'
import type { Problem } from '../problem.ts'
import type { Ask } from './silence.ts'

/** A program to be kept running. */
export interface Program {
  /** As it stands in sentences: "Postgres". */
  name: string
  command: string
  args: readonly string[]
  cwd: string
  env: NodeJS.ProcessEnv
  /** The account it runs under; null: ours. */
  owner: Owner | null
  /**
   * An open file that it has open too, as number 3: the lock of its data, which then holds as long
   * as it lives.
   */
  lock?: number
  /** Takes its standard output and error. */
  log: string
  /** Before every start: clears away what a crash left. */
  prepare?(): Promise<void>
  /** Whether it does its work now; asked several times a second after a start. */
  isReady(): Promise<boolean>
  /**
   * Whether it is alive, whatever it is busy with: asked every few seconds, and replaced when it
   * falls silent. Left out: never asked.
   */
  isAlive?: Ask
  /**
   * The reason of its end as a sentence, told from what it wrote since its start; null when it
   * cannot be told.
   */
  explain?(log: string): Problem | null
  /**
   * What a gentle end is, and how long to wait before the next signal; SIGKILL comes last by
   * itself.
   */
  stop: readonly { signal: NodeJS.Signals; wait: number }[]
  /** How it is ended when the supervisor was killed. */
  gentle: 'SIGTERM' | 'SIGQUIT'
}

/** A program under supervision. */
export interface Supervised {
  name: string
  /** Ends it for good, gently; resolves when it has ended. */
  stop(): Promise<void>
  /** Ends it for good, at once. */
  kill(): void
}
