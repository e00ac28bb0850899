import { readdirSync, readFileSync } from 'node:fs'
import t from 'tap'
import { TooFrequent } from '#search/index'
import { LANGUAGES } from '#shared/articles/article'
import { sentenceOf } from '#web/parts/request'
import FORMS from '#web/words/forms.json' with { type: 'json' }
import { loadSpeech } from '#web/words/index'
import { ago, beginOf, dayOf, daysBefore, endOf, rest } from './time.ts'

t.test('a failed request is said in words: those of the API where it has some', async t => {
  const failure = { kind: 'failure', errors: {}, retryAfter: null, requestId: '' } as const
  t.equal(sentenceOf({ ...failure, code: 'offline', message: '' }), 'The API does not answer.')
  t.equal(sentenceOf({ ...failure, code: 'other', message: 'Wait.' }), 'Wait.')
  t.match(sentenceOf({ ...failure, code: 'unreadable', message: '' }), 'cannot be read')
})

t.test('sentences of the API are heard in each language', async t => {
  const english = await loadSpeech('en')
  t.equal(english.heard(['Wait.', 'Stop.']), 'Wait. Stop.')
  const { api: wanted = {} } = (await loadSpeech('nl')).words
  const source = ['services/api', 'services/notifier', 'shared/desk', 'search/execute']
    .flatMap(folder => readAll(new URL(`../../${folder}/`, import.meta.url)))
    .join('')
  for (const sentence of Object.keys(wanted)) {
    const written = sentence.replace(/[$.*+?()[\]|]/g, '\\$&').replace(/\{\w+\}/g, '\\$\\{[^}]+\\}')
    t.match(source, new RegExp(`['\`]${written}['\`]`), `the API writes it: ${sentence}`)
  }
  for (const language of LANGUAGES.filter(one => one !== 'en')) {
    const { words, heard } = await loadSpeech(language)
    const api = words.api ?? {}
    t.same(Object.keys(api), Object.keys(wanted), `${language} has all sentences`)
    for (const [sentence, own] of Object.entries(api))
      for (const value of own.match(/\{\w+\}/g) ?? [])
        t.ok(sentence.includes(value), `${language}: ${value}`)
    t.ok(heard([new TooFrequent().message]), 'with signs that expressions of JavaScript read')
    t.match(heard(['The host a.b has no public address.']), / a\.b /)
    t.equal(heard(['Write a name.', 'Nobody wrote this.']), null)
    t.equal(heard([]), null)
  }
})

const readAll = (folder: URL): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.ts'))
    .map(name => readFileSync(new URL(name, folder), 'utf8'))

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
    const { words, say, ago } = await loadSpeech(language)
    const { filters, results, copies, insights, take } = words
    const { total, close, nearest } = results
    const { active, suggestions } = filters
    const forms = [active, suggestions, total, copies.texts, take.done, close, nearest]
    const counts = forms.map(form => [0, 1, 2].map(n => say(form, { n })))
    const { before, same, later } = copies.days
    const days = [say(before, { n: 2 }), say(before, { n: 1 }), same, say(later, { n: 1 })]
    const { have, outlets } = insights.completeness
    const named = [outlets, 'De Brug'].map(outlet => say(have, { n: 1, of: 2, outlet }))
    // Browsers know the other languages.
    const ages = Array.from({ length: language === 'lb' ? 131 : 0 }, (_, n) => ago(n, 'day'))
    t.same([...counts, [...days, say(later, { n: 2 })], named, ages], FORMS[language], language)
    t.same(shapeOf(words), shapeOf((await loadSpeech('en')).words), `${language} has all sentences`)
  }
})

t.test(
  'a sentence has its values as they are, and numbers as its language writes them',
  async t => {
    const { say } = await loadSpeech('de')
    t.equal(
      say('{n} von {of}, {n} aus {place}', { n: 1_234, of: '{n}', place: '$&' }),
      '1.234 von {n}, 1.234 aus $&',
    )
    t.equal(say({ one: 'ein Text', other: '{n} Texte' }, { n: '1+' }, 1), 'ein Text')
    t.equal(say('{other} fehlt', {}), '{other} fehlt')
  },
)

/** The names of all sentences, each with the values that it takes; some sentences may be absent. */
function shapeOf(words: object): unknown[] {
  return Object.entries(words)
    .filter(([name]) => !/^(expression|placeholder|api)$/.test(name))
    .map(([name, part]) =>
      typeof part === 'string'
        ? [name, ...new Set(part.match(/\{\w+\}/g)?.sort())]
        : [name, ...shapeOf(part)],
    )
    .sort()
}
