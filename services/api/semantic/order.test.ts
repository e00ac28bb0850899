import fc from 'fast-check'
import t from 'tap'
import { after, inOrder, type Placed } from './order.ts'
import type { SemanticPosition } from './query.ts'
import { relevanceOf } from './search.ts'

t.test('relevance is the cosine clamped to 0–1, rounded half up to four decimals (decision 27)', async t => {
  for (const [score, relevance] of [
    [0.85004999, 8500],
    [0.85005, 8501],
    [0.12345, 1235],
    [1.0000001, 10_000],
    [-0.2, 0],
    [0, 0],
  ] as const)
    t.equal(relevanceOf(score), relevance, String(score))
})

const article = fc.record({
  id: fc.string({ minLength: 1, maxLength: 3, unit: 'grapheme' }),
  time: fc.option(fc.integer({ min: 0, max: 4 })),
  relevance: fc.integer({ min: 0, max: 3 }),
})

t.test('walking by the last article of each page visits all, once, in order (22)', async () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(article, { selector: ({ id }) => id, maxLength: 40 }),
      fc.constantFrom('relevance' as const, 'published_at' as const, 'ingested_at' as const),
      fc.constantFrom('asc' as const, 'desc' as const),
      fc.integer({ min: 1, max: 7 }),
      (articles, sort, order, size) => {
        const found = articles.map((one, at) => ({ ...one, seq: BigInt(at) }))
        const relevances = new Map(found.map(({ seq, relevance }) => [seq, relevance]))
        const whole = inOrder(found, relevances, { sort, order })
        const walked: string[] = []
        for (let last: { value: number | null; id: string } | null = null; ; ) {
          const position: SemanticPosition | null = last && { setId: 'any', last }
          const page: Placed[] = after(whole, position, { sort, order }).slice(0, size)
          const end = page.at(-1)
          if (!end) break
          walked.push(...page.map(({ id }) => id))
          last = { value: end.value, id: end.id }
        }
        return JSON.stringify(walked) === JSON.stringify(whole.map(({ id }) => id))
      },
    ),
  )
})
