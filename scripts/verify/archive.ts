import { ArchiveFailure } from '#search/archive/client'
import { verifyArchive } from '#search/archive/verify'
import { archiveSettingsOf } from '#shared/config/archive'
import { readValue } from '#shared/postgres/pool'
import type { Looking } from './report.ts'

/** Questions for each index. Each reads some thousand articles of Postgres at most. */
const QUESTIONS = 50

const SERVES = "select exists (select from archive_indices where state = 'serving')"

/** Asks each index of the archive random questions, and compares the answers with Postgres. */
export async function verifyArchiveIndex({
  pool,
  report,
  config,
  signal,
  questions = QUESTIONS,
}: Looking): Promise<void> {
  if (!(await readValue<boolean>(pool, SERVES))) return
  const settings = archiveSettingsOf(config)
  if (settings === null) {
    report.notes.push('The archive index was not asked: OPENSEARCH_URL is not set.')
    return
  }
  const found = (text: string) => report.found('archive', text)
  try {
    await verifyArchive({ pool, settings, questions, random: Math.random, found, signal })
  } catch (error) {
    if (!(error instanceof ArchiveFailure)) throw error
    report.notes.push(`The archive index was not compared. ${error.message}`)
  }
}
