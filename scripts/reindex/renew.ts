import { WORD_RULES } from '../../search/analysis/index.ts'
import { openIndexer, renewNames } from '../../search/indexer.ts'
import { type Pool, readColumn, readValue } from '../../shared/postgres/pool.ts'
import { SEGMENT_THREAD } from '../../shared/postgres/segment-thread.ts'
import { openTokeniser } from './words.ts'

/*
 * Brings what former versions folded or cut into words to the rules of this version. A start and
 * `migrate` do this, so that searches find old articles as they find new ones.
 */

/** The version of the rules of the stored words; null: nobody has noted it yet. */
const STORED_RULES = "select rules from derived_rules where name = 'words'"

/**
 * Renews names and words. Old processes may run meanwhile. If words have other rules than the first
 * ones, this does nothing for them: `verify` and `doctor` then ask for `npm run reindex`.
 */
export async function renewDerived(pool: Pool, signal: AbortSignal): Promise<void> {
  await renewNames(pool, signal)
  if ((await readValue<number>(pool, STORED_RULES)) === null) await renewFirstWords(pool, signal)
}

/**
 * Words that the first rules of version 1 cut otherwise: those around U+02BC, and around U+0149,
 * which holds it (decision 44). This reads all texts once.
 */
const CHANGED = `select seq from article_texts where title ~ '[\u02bc\u0149]' or body ~ '[\u02bc\u0149]' order by seq`

async function renewFirstWords(pool: Pool, signal: AbortSignal): Promise<void> {
  let left = await readColumn<bigint>(pool, CHANGED)
  const { rebuild } = openIndexer(pool, SEGMENT_THREAD)
  const tokeniser = openTokeniser()
  try {
    while (left.length > 0) {
      const done = await rebuild.exclusively(async () => {
        const ranges = await rebuild.ranges()
        const range = ranges.find(({ first, last }) => first <= left[0]! && left[0]! <= last)
        const some = left.filter(seq =>
          range === undefined
            ? !ranges.some(({ first, last }) => first <= seq && seq <= last)
            : seq <= range.last,
        )
        if (range === undefined) await rebuild.words(some, tokeniser)
        else await rebuild.segment(range, { tokeniser, chosen: new Set(some), ...QUIETLY, signal })
        return some
      })
      signal.throwIfAborted()
      left = left.filter(seq => !done.includes(seq))
    }
  } finally {
    await tokeniser.close()
  }
  await noteWordRules(pool)
}

const QUIETLY = { worked: () => Promise.resolve(), within: () => Promise.resolve() }

/** Notes that all words are of the present rules. */
export async function noteWordRules(pool: Pool): Promise<void> {
  await pool.query(
    `insert into derived_rules (name, rules) values ('words', $1) on conflict (name) do update set rules = excluded.rules`,
    [WORD_RULES],
  )
}
