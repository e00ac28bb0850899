import { waitFor } from '../../shared/log/waits.ts'
import type { Queryable } from '../../shared/postgres/pool.ts'

export interface Statement {
  /** Prepares the statement under this name. A slow request tells it of what it waited for. */
  name?: string
  text: string
  values?: unknown[]
}

/** The state of the index that a server must hold before it may run a statement. */
export interface NeededState {
  /** `seq` of the newest article that the statement looks at. The server may have newer ones. */
  lastSeq?: bigint
  /** Exactly this version of the segments: another one has other segments. */
  version?: bigint
  /** Exactly this version of the words of articles that have no segment yet. */
  wordsVersion?: bigint
}

/** Whether rows are all that the statement asks for. A server that lags may know less. */
export type IsWhole<Row> = (rows: Row[]) => boolean

/** Servers that follow the primary and hold the same index, a moment later. */
export interface Standbys {
  /**
   * The rows of a statement, from a server that was seen to hold the needed state.
   *
   * @returns null: none holds it now, or none answers. The primary is to be asked. It never throws
   */
  rows<Row>(statement: Statement, needed: NeededState, isWhole?: IsWhole<Row>): Promise<Row[] | null>
}

/** The statements of searches. Every one names the state that it needs. */
export interface IndexReads {
  /** Runs a statement that must see the newest state: on the primary. */
  newest<Row>(statement: Statement): Promise<Row[]>
  /** Runs a statement on any server that holds the needed state; the primary always does. */
  rows<Row>(statement: Statement, needed: NeededState, isWhole?: IsWhole<Row>): Promise<Row[]>
}

/** Of a statement that is not prepared. */
const UNNAMED = 'search'

/** @param primary a pool whose connections have `SEARCH_SETTINGS` */
export function openReads(primary: Queryable, standbys?: Standbys): IndexReads {
  const newest = async <Row>(statement: Statement): Promise<Row[]> => {
    const { rows } = await waitFor(statement.name ?? UNNAMED, primary.query(statement))
    return rows
  }
  if (standbys === undefined) return { newest, rows: newest }
  return {
    newest,
    rows: async <Row>(statement: Statement, needed: NeededState, isWhole?: IsWhole<Row>) => {
      const rows = await waitFor(`${statement.name ?? UNNAMED} of a standby`, standbys.rows(statement, needed, isWhole))
      return rows ?? (await newest<Row>(statement))
    },
  }
}

/** The greatest of some numbers of articles; 0: there are none. */
export const newestOf = (seqs: bigint[]): bigint => seqs.reduce((a, b) => (a > b ? a : b), 0n)
