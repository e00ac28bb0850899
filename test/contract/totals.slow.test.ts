import t from 'tap'
import { makeSegments } from '#search/indexer'
import { startTestApi } from './api.ts'

const api = await startTestApi(t)
const { secret } = await api.issue()

const FIRST = Date.UTC(2026, 0, 1)
const COUNT = 10_050
const at = (minute: number) => new Date(FIRST + minute * 60_000)
const after = (articles: number) => `published_after=${at(COUNT - articles).toISOString()}`

t.test('decision 25: totals count to 10,000, pages go on to the end', async t => {
  await api.index(
    Array.from({ length: COUNT }, (_, i) => ({ title: `Teller ${i}`, publishedAt: at(i) })),
  )
  const total = async (query: string) =>
    (await api.ask(secret, `/v1/articles?per_page=1&${query}`)).json
  for (const state of ['new', 'in segments']) {
    if (state === 'in segments') await makeSegments(api.pool, { flushed: 1_024n, merged: 4_096n })
    for (const [articles, expected] of [
      [9_999, 9_999],
      [10_000, 10_000],
      [10_001, 10_000],
    ] as const) {
      for (const search of ['', '&q=teller', '&q=teller&search=boolean']) {
        const json = await total(after(articles) + search)
        t.equal(json.total_results, expected, `${articles}${search}, ${state}`)
        t.equal(json.total_results_is_estimate, articles >= 10_000 ? true : undefined)
      }
    }
    const seen = new Set<string>()
    let cursor: string | null = ''
    do {
      const { json } = await api.ask(
        secret,
        `/v1/articles?per_page=100&q=teller${cursor ? `&cursor=${cursor}` : ''}`,
      )
      t.equal(json.total_results, 10_000)
      t.equal(json.total_results_is_estimate, true)
      for (const { id } of json.articles) seen.add(id)
      cursor = json.next_cursor
    } while (cursor !== null)
    t.equal(seen.size, COUNT)
  }
})
