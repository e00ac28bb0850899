import type { Speech } from '#web/words/index'
import { outletName } from './outlet-names.ts'
import { entriesOf, isDomain, NEW_SEARCH, type Search } from './search.ts'

/** An active filter: its text, and the change that removes it. */
export interface Chip {
  text: string
  /** The domain of an outlet whose name the text has. */
  title?: string
  off: Partial<Search>
}

/** The active filters of a search, in the order of the page. */
export function chipsOf(search: Search, { words, date, say }: Speech): Chip[] {
  const { filters } = words
  const named = (name: string, value: string) => say(words.app.named, { name, value })
  const {
    countries,
    languages,
    hasAuthor,
    outlet,
    outlets,
    author,
    section,
    kinds,
    access,
    publishedAfter,
    publishedBefore,
  } = search
  const day = (bound: string) => date(new Date(bound), 'day')
  return [
    ...(search.mode !== 'semantic' && search.searchIn !== NEW_SEARCH.searchIn
      ? [{ text: named(filters.searchIn, filters.inTitle), off: { searchIn: NEW_SEARCH.searchIn } }]
      : []),
    ...(isTime(publishedAfter)
      ? [{ text: say(filters.since, { day: day(publishedAfter) }), off: { publishedAfter: '' } }]
      : []),
    ...(isTime(publishedBefore)
      ? [{ text: say(filters.until, { day: day(publishedBefore) }), off: { publishedBefore: '' } }]
      : []),
    ...countries.map(country => ({
      text: words.countries[country],
      off: { countries: countries.filter(one => one !== country) },
    })),
    ...languages.map(language => ({
      text: words.languages[language],
      off: { languages: languages.filter(one => one !== language) },
    })),
    ...(outlet === '' ? [] : [{ text: named(filters.outlet, outlet), off: { outlet: '' } }]),
    ...entriesOf(outlets).map((one, _at, all) => ({
      text: named(isDomain(one) ? filters.outlet : words.sets.one, outletName(one)),
      title: one,
      off: { outlets: all.filter(other => other !== one).join() },
    })),
    ...(author === '' ? [] : [{ text: named(filters.author, author), off: { author: '' } }]),
    ...(section === '' ? [] : [{ text: named(filters.section, section), off: { section: '' } }]),
    ...kinds.map(kind => ({
      text: named(filters.kind, filters.kinds[kind]),
      off: { kinds: kinds.filter(one => one !== kind) },
    })),
    ...(access === null
      ? []
      : [{ text: named(filters.access, filters.accesses[access]), off: { access: null } }]),
    ...(hasAuthor === null
      ? []
      : [
          {
            text: named(filters.hasAuthor, hasAuthor ? filters.withAuthor : filters.withoutAuthor),
            off: { hasAuthor: null },
          },
        ]),
  ]
}

const isTime = (bound: string) => bound !== '' && !Number.isNaN(Date.parse(bound))

/**
 * A search as people say it: its query, with the mode unless that is "words", and its filters.
 */
export function inWords(search: Search, speech: Speech): string {
  const { words, say } = speech
  const q = search.q.trim()
  const asked =
    search.mode === 'keyword' || q === ''
      ? q
      : say(words.app.named, { name: words.search.mode[search.mode], value: q })
  const filters = chipsOf(search, speech).map(({ text }) => text)
  return [asked || words.results.everything, ...filters].join(' · ')
}
