import { openTokeniser } from '#scripts/reindex/words'
import { glanceAtArchive } from '#search/archive/state'
import { type Verified, type VerifyWork, verifyIndex } from '#search/verify'
import { glanceAtRules } from '#shared/articles/rules'
import type { Config } from '#shared/config/config'
import { checkCopiesState, openGroupCheck } from '#shared/copies/pass'
import { counted } from '#shared/log/printable'
import { countOf, type Pool } from '#shared/postgres/pool'
import { verifyArchiveIndex } from './archive.ts'
import { compareArticles } from './articles.ts'
import { verifyCitations, verifyDesk } from './desk.ts'
import { verifyRemovals } from './removals.ts'
import { createReport, type Extent, type Kind, type Looking, type Report } from './report.ts'
import { verifySchema } from './schema.ts'
import { verifyVectors } from './vectors.ts'

/**
 * The checks beside the index of words, one for each thing that is derived from articles. Each
 * computes it anew and reports what differs. Code that derives other data must add its check here.
 */
const CHECKS: [Kind, (looking: Looking) => Promise<void>][] = [
  ['schema', verifySchema],
  ['copies', verifyCopies],
  ['vectors', verifyVectors],
  ['alerts', verifyDesk],
  ['citations', verifyCitations],
  ['tombstones', verifyRemovals],
  ['archive', verifyArchiveIndex],
]

/** What no check can tell, however long it runs. */
export const UNKNOWABLE: string[] = [
  'whether titles, texts, times of publication and names are those that outlets published',
  'whether a snippet that an outlet bounds is the one that it allows',
  'which agencies a crawled page named outside its text',
  'which three further addresses it gave its article',
  'whether a url begins with http or https as its outlet wrote it',
  'whether an alert was told of all articles up to its place',
  'whether the articles of a message match its search',
  'whether vectors are those of their texts, beyond a sample',
  'what an outlet said of its article (section, kind, access) before a segment has it',
  'of which page the crawler made an article',
  'whether the clock of removals has left out numbers',
  'whether an import brought the times of ingestion that are said to be of imports',
  'whether an owner of an address has agreed to alerts',
  'whether what bars a removed article are the hashes of its addresses',
  'whether a list beside the backups names all removals',
  'plans of keys, and what they have used',
  'what the crawler keeps of feeds, pages and hosts',
]

/** Compares the index, or a sample of it, with the articles. Threads tokenise. */
async function verifyWith(
  pool: Pool,
  { found }: Pick<Report, 'found'>,
  extent: Extent & Pick<VerifyWork, 'also'>,
): Promise<Verified> {
  for (const text of await glanceAtArchive(pool)) found('archive', text)
  for (const text of await glanceAtRules(pool)) found('rules', text)
  const { tokenise, close } = openTokeniser()
  return verifyIndex({ pool, tokenise, found, ...extent }).finally(close)
}

/** Compares the index, and all other data that is derived from articles. */
export async function verifyAll(
  pool: Pool,
  config: Config,
  report: Report,
  extent: Extent,
): Promise<Omit<Verified, 'unordered' | 'waiting'>> {
  const { unordered, waiting, ...verified } = await verifyWith(pool, report, {
    ...extent,
    also: compareArticles,
  })
  if (unordered > 0)
    report.notes.push(
      `The order of ${counted(unordered, 'time')} of ingestion was not compared: a former version wrote the articles, and nobody knows whether an import brought the times.`,
    )
  if (waiting > 0)
    report.notes.push(
      `${counted(waiting, 'removed article waits', 'removed articles wait')} to be cleared: \`npm run articles -- clear\`. Their segments were not compared.`,
    )
  for (const [kind, look] of CHECKS)
    if (!extent.signal.aborted)
      await look({ pool, report, config, ...extent }).catch(error => {
        // A value that no code can read is a difference, and the next checks follow. A server that
        // is away is none: that error has a cause.
        const isOfValue = error instanceof TypeError || error instanceof RangeError
        if (!isOfValue || error.cause !== undefined) throw error
        report.found(kind, `something stored cannot be read (${error.message})`)
      })
  return verified
}

/** The ranges of articles whose groups are compared when segments are drawn at random. */
const DRAWN = 8

/** Finds the groups of copies anew, and compares them with the stored ones. */
async function verifyCopies({ pool, report, sample, signal }: Looking): Promise<void> {
  const found = (text: string) => report.found('copies', text)
  for (const text of await checkCopiesState(pool)) found(text)
  const { next } = openGroupCheck(pool)
  if (sample === null) {
    for (let after: number | null = 0; after !== null && !signal.aborted; )
      after = await next(after, found)
    return
  }
  const last = await countOf(pool, 'select seq::float8 from copies_state')
  for (let range = 0; range < DRAWN && !signal.aborted; range++)
    await next(Math.floor(Math.random() * last), found, 1)
}

/** Segments that a command compares after it has changed the index. */
const PROOF = 4

/**
 * Compares a sample of the changed index, and reports the differences.
 *
 * @returns whether nothing differs
 */
export async function prove(
  pool: Pool,
  say: (sentence: string) => void,
  signal: AbortSignal,
): Promise<boolean> {
  const report = createReport()
  await verifyWith(pool, report, {
    sample: { count: PROOF, seed: Date.now() },
    progress() {},
    signal,
  })
  for (const line of report.isSound() ? [] : report.lines()) say(line)
  return report.isSound()
}
