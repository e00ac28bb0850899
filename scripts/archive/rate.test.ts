import t from 'tap'
import type { NewArticle } from '../../search/indexing/article.ts'
import { createRate } from './rate.ts'

const articles = Array.from(
  { length: 80 },
  (_, number): NewArticle => ({
    ...{ url: `https://dagkoerier.example/${number}`, addresses: [`dagkoerier.example/${number}`] },
    ...{ title: 'Regering valt', body: 'Het kabinet is gevallen.' },
    ...{ outlet: { name: null, domain: 'dagkoerier.example' }, authors: [], language: 'nl', country: 'NL' },
    ...{ publishedAt: null },
  }),
)

/** The batches of two groups of articles, and how long they took. */
async function take(perSecond: number | null, indexed: (batch: NewArticle[]) => number) {
  const rate = createRate(perSecond, new AbortController().signal)
  const start = performance.now()
  const batches: NewArticle[][] = []
  for (const group of [articles.slice(0, 40), articles.slice(40)]) {
    for await (const batch of rate.batches(group)) {
      batches.push(batch)
      rate.note(indexed(batch))
    }
  }
  return { batches, ms: performance.now() - start }
}

t.test('articles come in small batches, in their order, and no faster than the rate', async t => {
  const { batches, ms } = await take(400, batch => batch.length)
  t.same(
    batches.map(batch => batch.length),
    [16, 16, 8, 16, 16, 8],
  )
  t.same(batches.flat(), articles)
  // All but the last batch are waited for.
  t.ok(ms >= (72 / 400) * 1_000 - 5, `${ms} ms`)
})

t.test('known articles are not waited for', async t => {
  const { batches, ms } = await take(1, () => 0)
  t.same(batches.flat(), articles)
  t.ok(ms < 10_000, `${ms} ms`)
})

t.test('without a rate a group is one batch', async t => {
  const { batches } = await take(null, batch => batch.length)
  t.same(batches, [articles.slice(0, 40), articles.slice(40)])
})

t.test('an interruption ends the wait', async t => {
  const stopping = new AbortController()
  const rate = createRate(1, stopping.signal)
  let batches = 0
  for await (const batch of rate.batches(articles)) {
    batches++
    rate.note(batch.length)
    stopping.abort()
  }
  t.equal(batches, 1, 'the next one would come a quarter of a minute later')
})
