import type { NewArticle } from '../../search/indexing/article.ts'
import type { Random } from '../faults/random.ts'
import { openArchiveIndex } from './archive-index.ts'
import { difference } from './comparison.ts'
import type { Question } from './oracle.ts'
import { answer } from './oracle.ts'
import { askedAgain, randomQuestion } from './questions.ts'
import { makeTestSegments } from './store.ts'

export interface Agreement {
  /** Questions on which the index and the oracle disagree, in words. */
  differences: string[]
  /** Articles found by all questions together. */
  found: number
}

/**
 * Asks the index and the oracle the same random questions: first while all articles are fresh, then
 * with some in small segments, then in larger and fewer ones.
 */
export async function askBoth(random: Random, articles: NewArticle[], questions: number): Promise<Agreement> {
  const index = await openArchiveIndex(null)
  try {
    const known = await index.add(articles)
    const flushed = BigInt(2 ** Math.floor(Math.log2(known.length / 20)))
    const differences: string[] = []
    let found = 0
    let former: Question | null = null
    for (let number = 0; number < questions; number++) {
      if (number === Math.floor(questions / 4)) await makeTestSegments(index.pool, { flushed, merged: flushed * 8n })
      if (number === Math.floor(questions / 2))
        await makeTestSegments(index.pool, { flushed: flushed * 4n, merged: flushed * 16n })
      const question: Question =
        former !== null && random.chance(0.4) ? askedAgain(random, former, known) : randomQuestion(random, known)
      former = question
      // Small sizes make many stretches, and totals at their cap.
      const sizes = {
        cap: random.pick([5, 50, 10_000]),
        memory: { segment: random.pick([1n, 8n, 64n, 4_096n]), words: random.pick([0, 500, 400_000]) },
        first: random.pick([1, 40, 32_768]),
        prefetch: random.pick([0, 100, 65_536]),
      }
      found += answer(known, question)?.ids.length ?? 0
      const differs = await difference(index.search, known, question, sizes)
      if (differs !== null) differences.push(`question ${number}: ${differs}\n${inWords({ question, sizes })}`)
    }
    return { differences, found }
  } finally {
    await index.close()
  }
}

/** To be asked again: as JSON, which knows no large integers. */
function inWords(asked: object): string {
  return JSON.stringify(asked, (_, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value))
}
