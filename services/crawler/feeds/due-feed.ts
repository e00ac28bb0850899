/** A feed that is due. */
export interface DueFeed {
  feedNo: number
  outletNo: number
  url: string
  etag: string | null
  lastModified: string | null
  /** The number of polls in a row that failed. */
  failures: number
  /** The last poll ended while a document was parsed: perhaps the document ended the crawler. */
  parsing: boolean
  /** When the poll began, by the clock of the database. */
  begunAt: Date
}
