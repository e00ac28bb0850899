import t from 'tap'
import type { FeedEntry } from '#shared/outlets/page'
import DAYS from './back-days.json' with { type: 'json' }
import { dayOf, mayBeIn, type Period, periodIn, publishedIn } from './back-days.ts'

const ofMonth = { from: '2019-03-01', to: '2019-03-31' }

t.test('the days that an address names', async t => {
  for (const { address, days, years } of DAYS) t.same(periodIn(address, years), days, address)
})

t.test('the day of a date, as it is written', async t => {
  const later = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString()
  const cases: [string | null, string | null][] = [
    ['2019-03-02T23:30:00-01:00', '2019-03-03'],
    ['Sat, 02 Mar 2019 10:00:00 GMT', '2019-03-02'],
    ['1990-01-01T00:00:00Z', null],
    ['1990-01-01T00:00:01Z', '1990-01-01'],
    [later(25), null],
    [later(23), later(23).slice(0, 10)],
    ['binnenkort', null],
    [null, null],
  ]
  for (const [written, day] of cases) t.equal(dayOf(written), day, `${written}`)
})

t.test('when a page was published', async t => {
  const entry = (url: string, published: string | null = null): FeedEntry => ({
    url,
    guid: null,
    title: null,
    summary: null,
    content: null,
    authors: [],
    published,
    language: null,
  })
  const none = { from: '1990-01-01', to: '2024-01-01', day: '2024-01-01' }
  const day = (day: string) => ({ from: day, to: day, day })
  const cases: [FeedEntry, string | null, Period | null, (Period & { day: string }) | null][] = [
    [
      entry('https://x.example/a', '2019-03-02T00:00:00Z'),
      '2024-01-01',
      ofMonth,
      day('2019-03-02'),
    ],
    [entry('https://x.example/2019/03/05/a'), '2024-01-01', ofMonth, day('2019-03-05')],
    [entry('https://2018-01.example/a'), '2019-03-09', ofMonth, { ...ofMonth, day: '2019-03-09' }],
    [entry('https://x.example/a'), '2019-03-01', ofMonth, { ...ofMonth, day: '2019-03-01' }],
    [entry('https://x.example/a'), '2019-03-31', ofMonth, { ...ofMonth, day: '2019-03-31' }],
    [entry('https://x.example/a'), '2019-02-28', ofMonth, { ...ofMonth, day: '2019-03-01' }],
    [entry('https://x.example/a'), '2024-01-01', ofMonth, { ...ofMonth, day: '2019-03-01' }],
    [entry('https://x.example/a'), null, ofMonth, { ...ofMonth, day: '2019-03-01' }],
    [entry('https://x.example/a'), '2024-01-01', null, none],
    [entry('https://x.example/a'), null, null, null],
  ]
  for (const [one, modified, within, published] of cases)
    t.same(publishedIn({ entry: one, modified }, within), published, `${one.url} ${modified}`)
})

t.test('unknown days may be in any range; both ends of a range are in it', async t => {
  const cases: [Period | null, boolean][] = [
    [null, true],
    [{ from: '2019-02-01', to: '2019-02-28' }, false],
    [{ from: '2019-02-01', to: '2019-03-01' }, true],
    [{ from: '2019-03-31', to: '2019-04-02' }, true],
    [{ from: '2019-04-01', to: '2019-04-02' }, false],
  ]
  for (const [days, is] of cases) t.equal(mayBeIn(days, ofMonth), is, JSON.stringify(days))
})
