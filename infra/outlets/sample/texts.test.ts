import { readFile } from 'node:fs/promises'
import t from 'tap'
import { LANGUAGES } from '../../../shared/articles/article.ts'
import { sampleArticles } from '../../../test/sample.ts'
import { SAMPLE_OUTLETS, textsOf } from './outlets.ts'
import { parseTexts } from './texts.ts'

const indexable = sampleArticles()
const count = <T>(values: T[], value: T) => values.filter(candidate => candidate === value).length

t.test('at least 100 articles can be indexed, at least 15 in every language, several outlets a country', async t => {
  const countries = SAMPLE_OUTLETS.map(({ country }) => country)
  for (const country of ['NL', 'BE', 'LU'] as const) t.ok(count(countries, country) >= 3, country)
  t.ok(indexable.length >= 100, String(indexable.length))
  const languages = indexable.map(({ language }) => language)
  for (const language of LANGUAGES) t.ok(count(languages, language) >= 15, `${language} ${count(languages, language)}`)
})

t.test('at least 15 events are told in two languages or more', async t => {
  const languagesOf = Map.groupBy(indexable, ({ event }) => event)
  languagesOf.delete(null)
  for (const [event, articles] of languagesOf) t.ok(articles.length > 1, `${event} is told more than once`)
  const shared = [...languagesOf.values()].filter(articles => new Set(articles.map(a => a.language)).size > 1)
  t.ok(shared.length >= 15, String(shared.length))
})

t.test('within an outlet no title, slug, number or address occurs twice', async t => {
  for (const outlet of SAMPLE_OUTLETS) {
    const texts = textsOf(outlet)
    for (const key of ['title', 'slug', 'number'] as const) {
      t.equal(new Set(texts.map(text => text[key])).size, texts.length, `${outlet.domain} ${key}`)
    }
    t.equal(new Set(texts.map(outlet.address)).size, texts.length, `${outlet.domain} address`)
    t.ok(texts.length <= 20, 'a crawl at one request in 100 ms stays short')
  }
})

t.test('a wall clock is read in the time zone of the outlet, on both sides of the change of the clock', async t => {
  const times = (at: string) => parseTexts(`# A\n\nat: ${at}\nsection: s\n\nText.`, 'Europe/Brussels', 'nl')
  t.equal(times('2026-10-24 08:45')[0]?.publishedAt.toISOString(), '2026-10-24T06:45:00.000Z')
  t.equal(times('2026-10-26 08:45')[0]?.publishedAt.toISOString(), '2026-10-26T07:45:00.000Z')
})

t.test('each text has the lines that it needs, and no other', async t => {
  const line = /^(by|event|lang|answer): \S.*$|^at: \d{4}-\d\d-\d\d \d\d:\d\d$|^section: \S.*$/
  for (const { domain } of SAMPLE_OUTLETS) {
    const source = await readFile(new URL(`./texts/${domain}.md`, import.meta.url), 'utf8')
    for (const block of source.split(/^# /m).slice(1)) {
      const [title = '', head = ''] = block.trim().split(/\n\s*\n/)
      t.same(
        head.split('\n').filter(one => !line.test(one)),
        [],
        title,
      )
      for (const key of ['at', 'section']) t.match(head, new RegExp(`^${key}: `, 'm'), title)
    }
  }
})
