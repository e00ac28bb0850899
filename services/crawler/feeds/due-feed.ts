/** A feed that is due, as a visit takes it up. */
export interface DueFeed {
  feedNo: number
  outletNo: number
  url: string
  etag: string | null
  lastModified: string | null
  /** Polls in a row that failed. */
  failures: number
  /** The last poll was broken off while a document was parsed. */
  parsing: boolean
}
