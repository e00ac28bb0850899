import t from 'tap'
import { createRandom } from '../../test/faults/random.ts'
import { answer, type Known } from '../../test/search/oracle.ts'
import { EVERYTHING } from '../../test/search/poller.ts'
import { randomWords } from '../../test/search/questions.ts'
import { randomArticles } from '../../test/search/random-articles.ts'
import { indexText } from '../analysis/index.ts'
import { parseExpression } from './expression.ts'
import { findingAny, holding } from './holds.ts'
import { planMatch } from './match.ts'
import type { Leaf } from './parse.ts'

const SEED = Number(process.env.SEED ?? 20_261_129)
const random = createRandom(SEED)
const known = randomArticles(random, 60).map(
  (article, at): Known => ({
    ...article,
    id: `${at}`,
    seq: BigInt(at),
    publishedAt: null,
    ingestedAt: new Date(),
  }),
)

// Held here: decision 45, on the words of single articles.
t.test('an expression holds for the articles for which the oracle says so', async t => {
  const counts = { held: 0, not: 0 }
  for (let asked = 0; asked < 150; asked++) {
    const { q, tree } = randomWords(random, 'expression', known)
    const parsed = parseExpression(q ?? '')
    if (!parsed.ok || tree === undefined) continue
    const searchIn = random.pick(['title', 'title_body'] as const)
    const { verification } = planMatch(parsed.match, searchIn, null)
    const holds = verification && holding(verification)
    const question = { ...EVERYTHING, q, search: 'expression' as const, tree, searchIn }
    const wanted = new Set(answer(known, question)?.ids)
    const wrong = known.filter(
      ({ id, title, body, language }) =>
        holds?.(indexText(title, body), language) !== wanted.has(id),
    )
    if (wrong.length > 0) t.fail(`${q} in ${searchIn}: ${wrong.map(({ id }) => id)}; seed ${SEED}`)
    counts.held += wanted.size
    counts.not += known.length - wanted.size
  }
  t.ok(counts.held > 500 && counts.not > 500, JSON.stringify(counts))
})

t.test('the places of words are told once each, in order, with the number of words', async t => {
  const leaves: Leaf[] = [
    { kind: 'phrase', words: ['c'], inTitle: false },
    { kind: 'phrase', words: ['a', 'b'], inTitle: false },
    { kind: 'forms', word: 'a', inTitle: false },
    { kind: 'forms', word: 'running', inTitle: true },
  ]
  const find = findingAny(leaves)
  const { body } = indexText('', 'runs b c a running b a b')
  t.same(find(body, 'en'), { places: [0, 2, 3, 4, 6], words: 8 })
  t.same(find(body, 'de'), { places: [2, 3, 4, 6], words: 8 }, 'a language has its own forms')
  t.same(find('', 'en'), { places: [], words: 0 })
})
