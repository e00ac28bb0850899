import t from 'tap'
import { LANGUAGES } from '#shared/articles/article'
import { sampleArticles } from '#test/sample'
import { SAMPLE_OUTLETS } from './outlets.ts'

const indexable = sampleArticles()
const count = <T>(values: T[], value: T) => values.filter(candidate => candidate === value).length

// test/start/start.slow.test.ts checks that a start stores each article as it was written.
t.test(
  'at least 100 articles can be indexed, at least 15 in every language, several outlets a country',
  async t => {
    const countries = SAMPLE_OUTLETS.map(({ country }) => country)
    for (const country of ['NL', 'BE', 'LU'] as const) t.ok(count(countries, country) >= 3, country)
    t.ok(indexable.length >= 100, String(indexable.length))
    const languages = indexable.map(({ language }) => language)
    for (const language of LANGUAGES)
      t.ok(count(languages, language) >= 15, `${language} ${count(languages, language)}`)
  },
)

t.test('at least 15 events are told in two languages or more', async t => {
  const languagesOf = Map.groupBy(indexable, ({ event }) => event)
  languagesOf.delete(null)
  for (const [event, articles] of languagesOf)
    t.ok(articles.length > 1, `${event} is told more than once`)
  const shared = [...languagesOf.values()].filter(
    articles => new Set(articles.map(a => a.language)).size > 1,
  )
  t.ok(shared.length >= 15, String(shared.length))
})
