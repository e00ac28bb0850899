import t from 'tap'
import { LANGUAGES, type Language } from '#shared/articles/article'
import { alertSpeech } from '#shared/desk/alerts/words'
import { escapeMarkup } from '#shared/encoding/markup'
import { invitation, type Letter, letter } from './letter.ts'
import type { Section } from './message.ts'

const article = (title: string, outlet: string) => ({
  id: '0198a2f0',
  title,
  url: 'https://krant.example/a?b=1&c="2"',
  snippet: 'De brug <b>blijft</b> dicht.',
  published_at: '2026-11-28T23:05:00.000Z',
  ingested_at: '2026-11-28T23:06:00.000Z',
  authors: [],
  outlet: { name: outlet, domain: 'krant.example' },
  language: 'nl' as const,
  country: 'NL' as const,
})

const section = (name: string, titles: string[], more: Partial<Section> = {}): Section => ({
  alert: {
    id: 'alert_0',
    to: 'mailto:lezer@example.org',
    when: '08:00',
    zone: 'Europe/Brussels',
    language: 'en',
  },
  message: {
    id: 'msg_0',
    type: 'articles',
    search: { id: 'search_0', name },
    articles: titles.map(title => article(title, 'De Krant & Co')),
    more: 0,
  },
  query: 'q=brug&country=NL',
  found: null,
  ...more,
})

const write = (...sections: Section[]): Letter =>
  letter(sections, 'Our <News>', {
    base: 'https://news.example',
    ending: some => `https://news.example/unsubscribe/${some.map(one => one.query).join('+')}`,
  })

t.test('both forms have for each article outlet, local time, snippet and link', t => {
  const { subject, text, html } = write(section('Bruggen', ['Brug dicht'], { found: 5 }))
  t.equal(subject, 'Bruggen: 5 articles (1 text)')
  t.match(text, 'Bruggen\n5 articles (1 text) · time zone: Europe/Brussels\n\nBrug dicht\n')
  t.match(
    text,
    /\nDe Krant & Co · 29 November 2026.{1,4}00:05\nDe brug <b>blijft<\/b> dicht\.\nhttps:\/\/krant\.example\/a\?b=1&c="2"\n/,
  )
  const { words } = alertSpeech('en')
  t.match(
    text,
    `${words.open}:\nhttps://news.example/?q=brug&country=NL&search_in=title&kept=search_0`,
  )
  t.match(text, `${words.settings}:\nhttps://news.example/searches?search=search_0`)
  for (const part of [
    'De Krant & Co',
    'De brug <b>blijft</b> dicht.',
    'https://krant.example/a?b=1&c="2"',
    'Our <News>',
  ])
    t.match(html, escapeMarkup(part))
  t.notMatch(html, /<img|<script|\ssrc=|@import|url\(/, 'nothing is loaded')
  t.end()
})

t.test('the direction of a foreign title ends with it, in every form', t => {
  const title = '\u202Eשלום\u2069 gemeente'
  const { text, html, subject } = write(section('\u2067عاجل', [title]))
  t.match(text, '\n\u2068שלום gemeente\u2069\n')
  t.match(html, '<bdi>שלום gemeente</bdi>')
  t.match(subject, '\u2068عاجل\u2069: 1 article')
  t.notMatch(html.slice(html.indexOf('<body>')), /[\u202A-\u202E\u2066-\u2069]/)
  t.end()
})

t.test('one mail has several searches, each with its end, and an end for all', t => {
  const { subject, text, html } = write(
    section('Bruggen', ['Brug dicht'], { query: 'q=a' }),
    section('Havens', ['Haven open', 'Haven vol'], { query: 'q=b' }),
  )
  t.equal(subject, 'New to 2 searches: Bruggen, Havens')
  t.match(text, /^New to 2 searches\ntime zone: Europe\/Brussels\n\nBruggen\n1 article\n\n/)
  t.equal(html.split('Europe/Brussels').length, 2, 'once')
  const { alert, ...rest } = section('Havens', ['Haven open'])
  const far = { ...rest, alert: { ...alert, zone: 'Europe/London' } }
  t.match(
    write(section('Bruggen', ['Brug dicht']), far).text,
    / article · time zone: Europe\/London\n/,
  )
  const { words } = alertSpeech('en')
  t.match(text, `${words.why}\n\n${words.endAll}:\nhttps://news.example/unsubscribe/q=a+q=b\n`)
  for (const link of ['unsubscribe/q=a', 'unsubscribe/q=b', 'unsubscribe/q=a+q=b']) {
    t.match(text, `https://news.example/${link}\n`)
    t.match(html, `"https://news.example/${link}"`)
  }
  t.same(html.match(/(?<=<\/?h)\d/g)?.join(''), '112233223333')
  const many = write(...['A', 'B', 'C', 'D'].map(name => section(name, [])))
  t.equal(many.subject, 'New to 4 searches: A, B, C and 1 more')
  const one = write(section('A', ['Brug']))
  t.equal(one.text.split('unsubscribe').length, 2, 'one search has one end')
  t.match(one.text, `${words.end}:\nhttps://news.example/unsubscribe/`)
  t.same(one.html.match(/(?<=<\/?h)\d/g)?.join(''), '1122')
  t.end()
})

t.test('below an article stand the other outlets that have most of its text', t => {
  const also = (names: string[]) =>
    write(section('A', ['Brug'], { also: new Map([['0198a2f0', names]]) }))
  const { text, html } = also(['Le <Soir>', '\u202Eعاجل', 'C', 'D', 'E'])
  const { words, say } = alertSpeech('en')
  const more = say(words.andMore, 2)
  t.match(text, `\n${say(words.also, `Le <Soir>, \u2068عاجل\u2069, C ${more}`)}\nhttps://`)
  const named = `<bdi>${escapeMarkup('Le <Soir>')}</bdi>, <bdi>عاجل</bdi>, <bdi>C</bdi> ${more}`
  t.match(html, `<p class="soft">${say(words.also, named)}</p></article>`)
  const none = say(words.also, '').trim()
  t.notMatch(also([]).text + also([]).html, none)
  t.end()
})

t.test('a cut snippet ends after a whole word', t => {
  const one = section('Bruggen', ['Brug dicht'])
  const snippet = `${'woord '.repeat(33)}wo`
  one.message.articles = one.message.articles.map(article => ({ ...article, snippet }))
  const { text, html } = write(one)
  t.match(text, /woord\u00A0…\nhttps/)
  t.match(html, /woord\u00A0…<\/p>/)
  one.message.articles = one.message.articles.map(article => ({ ...article, snippet: null }))
  t.match(write(one).html, '00:05</bdi></p></article>')
  t.equal([...write(section('𠀀'.repeat(300), [])).subject].length, 200, 'and a long subject')
  t.end()
})

t.test('a digest counts what it does not tell, and an alert at once says that more comes', t => {
  const more = (when: string, more = 4) => {
    const { alert, message, ...rest } = section('Bruggen', ['Brug dicht'], { found: 9 })
    return write({ ...rest, alert: { ...alert, when }, message: { ...message, more } })
  }
  t.match(more('08:00'), { subject: 'Bruggen: 9 articles (5 texts)', text: 'And 4 more:' })
  t.match(more('at once'), { subject: 'Bruggen: 9 articles (1 text)', text: 'next mail' })
  t.match(more('at once', 1).text, 'next mail')
  for (const when of ['08:00', 'at once']) t.notMatch(more(when, 0).text, /next mail|more:/)
  t.end()
})

t.test('a mail speaks the language of its alert', t => {
  const said = LANGUAGES.map((language: Language) => {
    const { alert, ...rest } = section('Bruggen', ['Brug dicht'])
    const { html, text, subject } = write({ ...rest, alert: { ...alert, language } })
    const colons = [...(text + subject).matchAll(/(.):\s/g)].map(([, before = '']) =>
      /\s/.test(before),
    )
    t.same(new Set(colons), new Set([language === 'fr']), 'a blank before the colon')
    t.match(html, `<html lang="${language}">`)
    const { words, say } = alertSpeech(language)
    t.match(html, words.why)
    const about = (name: string, when = 'at once') => ({
      name,
      search: `q=${name.toUpperCase()}`,
      when,
      zone: 'Europe/Brussels',
    })
    const asked = invitation([about('Bruggen www.evil.example')], language, 'News', {
      agree: 'https://x.example',
      refuse: 'https://x.example/no',
    })
    t.match(asked.text, words.howTo)
    t.notMatch(asked.text + asked.html, words.oftener, 'nothing is more often than at once')
    t.match(asked.text, `${say(words.leads, words.agree)}\nhttps://x.example\n`)
    t.match(asked.text, `${say(words.leads, words.refuseAll)}\nhttps://x.example/no`)
    const asking = (name: string) =>
      `${say(words.leads, name)} ${words.doYouWant}`.replace(/\s/g, ' ')
    t.match(asked, { subject: asking('Bruggen …'), text: say(words.asks, 'News') })
    t.match(asked.html, say(words.asks, '<bdi>News</bdi>'))
    const of = [
      { ...about('A'), search: 'q=trein+evil.example&country=BE' },
      about('B', '08:00'),
      about('C', 'sunday 07:30'),
    ]
    const three = invitation(of, language, 'News', { agree: '', refuse: '' })
    const sunday = words.writes.days.at(-1)
    for (const form of [three.text, three.html]) {
      t.match(form, `${words.howTo} ${words.oftener}`)
      t.match(form, words.writes.atOnce)
      t.match(form, `${say(words.writes.daily, '08:00')} (Europe/Brussels)`)
      t.match(form, new RegExp(`${sunday}.* 07:30 \\(Europe/Brussels\\)`))
    }
    t.match(three.text, `- A · trein … · ${words.writes.atOnce}\n- B · `)
    t.match(three.html, '<li><bdi>A</bdi> · <bdi>trein …</bdi> · <bdi>')
    t.match(three.subject, asking(`A ${say(words.andMore, 2)}`))
    t.notMatch(asked.text + asked.html, 'evil')
    return words
  })
  const ofOne = said.map(words => JSON.stringify([words.open, words.end, words.why, words.agreed]))
  t.equal(new Set(ofOne).size, LANGUAGES.length)
  t.end()
})

t.test('what was taken out is told by ids and times, in each language', t => {
  for (const language of LANGUAGES) {
    const one = section('Bruggen', [])
    const removals = [{ number: 7, id: 'a1', removed_at: '2026-11-29T05:00:00.000Z' }]
    const message = { ...one.message, type: 'removed' as const, removals }
    const { subject, text, html } = write({ ...one, message, alert: { ...one.alert, language } })
    t.match(subject, alertSpeech(language).say(alertSpeech(language).words.removed, 1))
    t.match(text, 'a1\n2026-11-29T05:00:00.000Z')
    t.match(html, '<p>a1 · 2026-11-29T05:00:00.000Z</p>')
    t.match(html, alertSpeech(language).words.forget)
  }
  t.end()
})
