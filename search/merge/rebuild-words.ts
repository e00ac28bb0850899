import type { Pool } from '../../shared/postgres/pool.ts'
import { transaction } from '../../shared/postgres/transaction.ts'
import { indexText } from '../analysis/word-list.ts'
import { raiseWordsVersion, readTexts, updateWords } from '../store/postgres-words.ts'

/** Tokenises some articles anew that have no segment yet; searches then read their words again. */
export async function rebuildWords(pool: Pool, seqs: bigint[]): Promise<void> {
  if (seqs.length === 0) return
  const texts = await readTexts(pool, seqs)
  const words = texts.map(({ seq, title, body }) => ({ seq, ...indexText(title, body) }))
  await transaction(pool, async client => {
    if ((await updateWords(client, words)) !== 0) await raiseWordsVersion(client)
  })
}
