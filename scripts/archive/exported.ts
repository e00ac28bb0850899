/** An article as `export` writes it. */
export interface ExportedArticle {
  id: string
  title: string
  url: string
  snippet: string | null
  /** With `--body`. */
  body?: string | null
  published_at: string | null
  ingested_at: string | null
  authors: string[]
  language: string
  country: string
  outlet: { name: string | null; domain: string | null }
}

/** Writes articles, some at a time, so that an archive of any size fits into memory. */
export interface ArchiveFormat {
  /** What to write for these articles now, which may be nothing yet. */
  add(lines: readonly string[]): Promise<string | Uint8Array>
  end(): Promise<string | Uint8Array>
}
