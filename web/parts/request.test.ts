import t from 'tap'
import { LANGUAGES } from '../../shared/articles/article.ts'
import { sentenceOf } from '../parts/request.ts'
import FORMS from '../words/forms.json' with { type: 'json' }
import { loadSpeech } from '../words/index.ts'
import { ago, beginOf, dayOf, daysBefore, endOf, rest } from './time.ts'

t.test('a failed request is said in words: those of the API where it has some', async t => {
  const failure = { kind: 'failure', errors: {}, retryAfter: null, requestId: '' } as const
  t.equal(sentenceOf({ ...failure, code: 'offline', message: '' }), 'The API does not answer.')
  t.equal(sentenceOf({ ...failure, code: 'other', message: 'Wait.' }), 'Wait.')
  t.match(sentenceOf({ ...failure, code: 'unreadable', message: '' }), 'cannot be read')
})

t.test('the age of an article is said in its largest unit, up to a week', async t => {
  const speech = await loadSpeech('en')
  const now = Date.UTC(2026, 10, 20, 12)
  const said = (seconds: number) => ago(new Date(now - seconds * 1_000), now, speech)
  t.same([-60, 59, 60, 3_599].map(said), ['now', 'now', '1 minute ago', '59 minutes ago'])
  t.same([3_600, 86_399, 86_400].map(said), ['1 hour ago', '23 hours ago', 'yesterday'])
  t.same([604_800, 604_801, -61].map(said), ['7 days ago', '13 November 2026', '20 November 2026'])
})

t.test('a day begins and ends in the time zone of the reader', async t => {
  t.same(['2026-02-31', '', 'soon', beginOf('2026-11-03')].map(dayOf), [
    '2026-02-31',
    '',
    '',
    '2026-11-03',
  ])
  t.same([beginOf('soon'), endOf('soon')], ['', ''])
  t.equal(Date.parse(endOf('2026-11-03')) + 1, Date.parse(beginOf('2026-11-04')))
  t.equal(daysBefore(new Date(2026, 2, 1), 1), '2026-02-28')
})

t.test('a rest ends early when its signal aborts', async t => {
  const leaving = new AbortController()
  t.equal(await rest(1, leaving.signal), undefined)
  const waiting = rest(60_000, leaving.signal)
  leaving.abort(new Error('left'))
  await t.rejects(waiting, { message: 'left' })
  await t.rejects(rest(60_000, leaving.signal), { message: 'left' })
})

t.test('words take the form of their number, in each language', async t => {
  for (const language of LANGUAGES) {
    const { filters, results, copies, insights, take, ago } = (await loadSpeech(language)).words
    const counts = [filters.active, filters.suggestions].map(form => [0, 1, 2].map(form))
    const pairs = [
      ['0', false],
      ['1', true],
      ['2', false],
    ] as const
    const totals = [results.total, copies.texts, take.done].map(form =>
      pairs.map(([n, one]) => form(n, one)),
    )
    const others = [[-2, -1, 0, 1, 2].map(copies.days)]
    const named = ['', 'De Brug'].map(outlet => insights.completeness.have('1', '2', outlet))
    const ages = Array.from({ length: 131 }, (_, n) => ago?.(n, 'day') ?? '')
    t.same(
      [...counts, ...totals, ...others, named, ages.filter(Boolean)],
      FORMS[language],
      language,
    )
  }
})
