import type { IndexKind, VerifyWork } from '#search/types'
import type { Config } from '#shared/config/config'
import { counted, printableLine } from '#shared/log/printable'
import type { Pool, Queryable } from '#shared/postgres/pool'

const [REINDEX, RESTORE] = ['npm run reindex', 'npm run restore'] as const

/**
 * Kinds of differences, each with the command that repairs it; null: the difference may be
 * intended.
 */
const MENDS = {
  ranges: REINDEX,
  segments: REINDEX,
  words: REINDEX,
  names: REINDEX,
  leftovers: REINDEX,
  rules: `npm run migrate (words of numbered rules: ${REINDEX})`,
  removed: 'npm run articles -- clear',
  tombstones: RESTORE,
  snippets: `${REINDEX} -- --snippets`,
  archive: `${REINDEX} -- --archive`,
  schema: 'its statement in infra/migrations',
  stamps: 'npm run recovered',
  vectors: 'a restart of the embedder',
  meaning: `${REINDEX} -- --vectors`,
  hidden: 'a newer Qdrant (docs/operations.md)',
  clock: RESTORE,
  order: RESTORE,
  articles: RESTORE,
  agencies: RESTORE,
  identity: RESTORE,
  days: RESTORE,
  promises: RESTORE,
  citations: RESTORE,
  alerts: RESTORE,
  copies: `${REINDEX} -- --copies`,
  feeds: 'npm run keys -- feed revoke',
  keys: 'npm run keys -- update',
  searches: 'its owner, who changes or removes it',
  candidates: 'a wait of ten minutes',
  past: 'a crawler that runs for a day',
  secrets: 'a start of the API, after the row is deleted',
  unpromised: null,
  doubles: null,
} satisfies Record<
  | IndexKind
  | 'archive'
  | 'schema'
  | 'rules'
  | 'vectors'
  | 'meaning'
  | 'hidden'
  | 'citations'
  | 'alerts'
  | 'copies'
  | 'feeds'
  | 'keys'
  | 'searches'
  | 'candidates'
  | 'past'
  | 'secrets',
  string | null
>

export type Kind = keyof typeof MENDS

/** The most differences of a kind that are named. */
export const EXAMPLES = 10

export interface Report {
  kinds: Map<Kind, { kind: Kind; count: number; examples: string[]; mend: string | null }>
  /** The parts that were not compared, each with the reason. */
  notes: string[]
  found(kind: Kind, text: string, more?: number): void
  isSound(): boolean
  /** The report in lines for people. */
  lines(): string[]
}

/** Collects differences: the number of each kind, and the first ones in full. */
export function createReport(): Report {
  const kinds: Report['kinds'] = new Map()
  const notes: string[] = []
  return {
    kinds,
    notes,
    found(kind, text, more = 0) {
      const all = kinds.get(kind) ?? { kind, count: 0, examples: [], mend: MENDS[kind] }
      kinds.set(kind, all)
      all.count += 1 + more
      if (all.examples.length < EXAMPLES) all.examples.push(text)
    },
    isSound: () => [...kinds.values()].every(({ mend }) => mend === null),
    lines: () =>
      [...kinds.values()].flatMap(({ kind, count, examples, mend }) => [
        `${kind}: ${counted(count, 'difference')}${mend === null ? '.' : `; ${mend} mends that.`}`,
        ...examples.map(text => `  ${printableLine(text)}`),
      ]),
  }
}

/** What of the index is compared. */
export interface Extent extends Pick<VerifyWork, 'sample' | 'progress' | 'signal'> {
  /** How many questions each index of the archive is asked; absent: `QUESTIONS`. */
  questions?: number
}

/** What a check gets. */
export interface Looking extends Pick<Extent, 'sample' | 'signal' | 'questions'> {
  pool: Pool
  report: Report
  config: Config
}

/** Reports a fault for each row of a statement: a kind and a text. */
export async function findFaults(db: Queryable, report: Report, statement: string): Promise<void> {
  const { rows } = await db.query<{ kind: Kind; text: string }>(statement)
  for (const { kind, text } of rows) report.found(kind, text)
}
