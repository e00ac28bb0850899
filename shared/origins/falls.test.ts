import t from 'tap'
import { fallsOf } from './falls.ts'

t.test('JSON-LD that named 90 % of the dates and names 40 % is a fall', async t => {
  const falls = fallsOf({ date: { 'json-ld': 90, line: 10 } }, { date: { 'json-ld': 8, line: 12 } })
  t.strictSame(falls, [{ field: 'date', source: 'json-ld', before: 0.9, now: 0.4 }])
})

t.test('articles without a text, a date or authors are a fall of the source that named them', async t => {
  const before = { text: { page: 50 }, authors: { meta: 40, none: 10 } }
  const now = { text: { page: 5, none: 15 }, authors: { none: 20 } }
  t.strictSame(fallsOf(before, now), [
    { field: 'authors', source: 'meta', before: 0.8, now: 0 },
    { field: 'text', source: 'page', before: 1, now: 0.25 },
  ])
})

t.test('a change to a source of equal or higher trust is no fall', async t => {
  t.strictSame(fallsOf({ date: { meta: 100 } }, { date: { 'json-ld': 20 } }), [])
  t.strictSame(fallsOf({ title: { markup: 100 } }, { title: { meta: 20 } }), [])
  t.strictSame(fallsOf({ title: { meta: 100 } }, { title: { document: 20 } }).length, 1)
})

t.test('few articles and small falls prove nothing', async t => {
  t.strictSame(fallsOf({ date: { 'json-ld': 6, line: 4 } }, { date: { 'json-ld': 3, line: 7 } }), [])
  t.strictSame(fallsOf({ date: { 'json-ld': 9_000, line: 1_000 } }, { date: { 'json-ld': 7_000, line: 3_000 } }), [])
  t.strictSame(fallsOf({}, { date: { line: 20 } }), [])
  t.strictSame(fallsOf({ date: { line: 20 } }, {}), [])
})
