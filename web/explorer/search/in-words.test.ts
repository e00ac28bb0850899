import t from 'tap'
import { loadSpeech } from '#web/words/index'
import { inWords } from './in-words.ts'
import { noteOutlet } from './outlet-names.ts'
import { addressOf, NEW_SEARCH, readStored } from './search.ts'

t.test('a search is said in words: its query, its mode and each filter', async t => {
  const speech = await loadSpeech('en')
  const said = (stored: string) => inWords(readStored(stored), speech)
  t.equal(inWords(NEW_SEARCH, speech), 'All articles')
  t.equal(said('q=brug&search_in=title_body&country=NL,BE'), 'brug · Netherlands · Belgium')
  t.equal(said('q=a+OR+b&search=expression'), 'Expression: a OR b')
  t.equal(said('q=high+water&search=semantic&language=fr'), 'Meaning: high water · French')
  t.equal(
    said('published_after=2026-11-01T12:00:00Z&has_author=false'),
    'All articles · from 1 November 2026 · Named author: Without',
  )
  const { date } = await loadSpeech('lb')
  t.equal(date(new Date('2026-01-05T12:00'), 'shortDate'), '05.01.2026', 'as 18.11.2026')
  noteOutlet({ name: 'Hollandse pers', domain: 'hollandse pers' })
  t.equal(
    said('outlets=Hollandse+pers,nrc.nl'),
    'All articles · Set of outlets: Hollandse pers · Outlet: nrc.nl',
  )
})

t.test('a stored search leaves out the place where the API has its default', async t => {
  t.equal(addressOf(readStored('q=brug')), '/?q=brug&search_in=title')
  t.equal(addressOf(readStored('q=brug&search=boolean')), '/?q=brug&search=boolean&search_in=title')
  t.equal(
    addressOf(readStored('q=brug&search=expression')),
    '/?q=brug&search=expression&search_in=title_body',
  )
  t.equal(addressOf(readStored('country=NL')), '/?country=NL')
})
