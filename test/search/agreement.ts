import type { NewArticle } from '#search/types'
import type { Random } from '#test/faults/random'
import { openArchiveIndex } from './archive-index.ts'
import { difference, inWords } from './comparison.ts'
import { answer, type Question } from './oracle.ts'
import { askedAgain, randomQuestion, randomSizes } from './questions.ts'
import { makeTestSegments } from './store.ts'

const DAY = 86_400_000
/** `/v1` does not ask so. Alerts do. */
const daysOfAlert = (random: Random) =>
  random.chance(0.8) ? null : random.pick([1, 30, 365, 3_650]) * DAY

export interface Agreement {
  differences: string[]
  found: number
}

/**
 * Asks the index and the oracle the same random questions: first while all articles are fresh, then
 * with some in small segments, then in larger and fewer ones.
 *
 * @returns questions on which they disagree, in words; how many articles were found in all
 */
export async function askBoth(
  random: Random,
  articles: NewArticle[],
  questions: number,
): Promise<Agreement> {
  const index = await openArchiveIndex(null)
  try {
    const known = await index.add(articles)
    const flushed = BigInt(2 ** Math.floor(Math.log2(known.length / 20)))
    const differences: string[] = []
    let found = 0
    let former: Question | null = null
    for (let number = 0; number < questions; number++) {
      if (number === Math.floor(questions / 4))
        await makeTestSegments(index.pool, { flushed, merged: flushed * 8n })
      if (number === Math.floor(questions / 2))
        await makeTestSegments(index.pool, { flushed: flushed * 4n, merged: flushed * 16n })
      const question: Question =
        former !== null && random.chance(0.4)
          ? askedAgain(random, former, known)
          : { ...randomQuestion(random, known), publishedWithin: daysOfAlert(random) }
      former = question
      const sizes = randomSizes(random)
      const expected = answer(known, question)
      found += expected?.ids.length ?? 0
      const differs = await difference(index.search, known, question, sizes, expected)
      if (differs !== null)
        differences.push(`question ${number}: ${differs}\n${inWords({ question, sizes })}`)
    }
    return { differences, found }
  } finally {
    await index.close()
  }
}
