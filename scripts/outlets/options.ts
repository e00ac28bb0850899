import type { Option } from '#shared/process/command'

/** Options of `add` that describe one outlet. */
export const ENTRY_OPTIONS: Record<string, Option> = {
  name: { value: 'NAME', about: 'add: name of the outlet (default: its domain)' },
  country: { value: 'NL|BE|LU', about: 'add: its country' },
  languages: { value: 'nl,fr', about: 'add: languages that it publishes in' },
  feed: {
    value: 'URL',
    multiple: true,
    about: 'add: a feed, beside those that the outlet has; may be repeated',
  },
}

export const BACK_OPTIONS: Record<string, Option> = {
  from: { value: 'DAY', about: 'back: the first day, as 2019-01-01' },
  to: { value: 'DAY', about: 'back: the last day; yesterday by default' },
  'newest-first': { about: 'back: begins with the last day' },
  stop: { about: 'back: stops; without it the back-fill goes on' },
}
