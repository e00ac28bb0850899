import { type Pool, transaction } from '../../shared/postgres/pool.ts'
import { raiseWordsVersion, readTexts, updateWords } from '../store/postgres-words.ts'
import type { Tokeniser } from './tokeniser.ts'

/** Tokenises some articles anew that have no segment yet; searches then read their words again. */
export async function rebuildWords(pool: Pool, seqs: bigint[], tokeniser: Tokeniser): Promise<void> {
  if (seqs.length === 0) return
  const texts = await readTexts(pool, seqs)
  const tokenised = await tokeniser.tokenise(texts)
  const words = texts.map(({ seq }, index) => ({ seq, ...tokenised[index]! }))
  await transaction(pool, async client => {
    if ((await updateWords(client, words)) !== 0) await raiseWordsVersion(client)
  })
}
