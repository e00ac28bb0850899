import type { Owner } from '../owner.ts'
import type { Problem } from '../problem.ts'
import type { Ask } from './silence.ts'

/** A program that is kept running. */
export interface Program {
  /** Its name in sentences: "Postgres". */
  name: string
  command: string
  args: readonly string[]
  cwd: string
  env: NodeJS.ProcessEnv
  /** The account that it runs under; null: ours. */
  owner: Owner | null
  /**
   * The open lock file of its data. The program gets it as file 3, so that the lock holds as long
   * as the program lives.
   */
  lock?: number
  /** The file that takes its standard output and error. */
  log: string
  /** Called before every start: removes what a crash left. */
  prepare?(): Promise<void>
  /** Whether it is ready for work. Called several times a second after a start. */
  isReady(): Promise<boolean>
  /**
   * Whether it is alive, even if it is busy. Called every few seconds; a program that falls silent
   * is replaced. Left out: never called.
   */
  isAlive?: Ask
  /** The reason of its end, told from its log since its start; null when the log does not tell. */
  explain?(log: string): Problem | null
  /** The signals that end it, each with ms to wait before the next. SIGKILL follows by itself. */
  stop: readonly { signal: NodeJS.Signals; wait: number }[]
  /** The signal that ends it when the supervisor was killed. */
  gentle: 'SIGTERM' | 'SIGQUIT'
}

/** A program under supervision. */
export interface Supervised {
  name: string
  /** The id of its process; undefined while there is none. */
  pid(): number | undefined
  /** Ends it for good, gently; resolves when it has ended. */
  stop(): Promise<void>
  /** Ends it for good, at once. */
  kill(): void
}
