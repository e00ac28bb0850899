import type { Country } from '../../shared/articles/article.ts'
import { type Catalogue, readCatalogue } from '../../shared/outlets/catalogue.ts'
import { type CommandContext, type Option, UsageError } from '../../shared/process/command.ts'

/** Options of `add` that describe one outlet. */
export const ENTRY_OPTIONS: Record<string, Option> = {
  name: { type: 'string', value: 'NAME', about: 'add: name of the outlet (default: its domain)' },
  country: { type: 'string', value: 'NL|BE|LU', about: 'add: its country' },
  languages: { type: 'string', value: 'nl,fr', about: 'add: languages that it publishes in' },
  'time-zone': { type: 'string', value: 'ZONE', about: "add: for dates without an offset (default: the country's)" },
  feed: { type: 'string', value: 'URL', multiple: true, about: 'add: a feed; may be repeated' },
  sitemap: { type: 'string', value: 'URL', multiple: true, about: 'add: a sitemap; may be repeated' },
}

const TIME_ZONES: Record<Country, string> = { NL: 'Europe/Amsterdam', BE: 'Europe/Brussels', LU: 'Europe/Luxembourg' }

/** Whether options describe an outlet. */
export function hasEntry(options: CommandContext['options']): boolean {
  return Object.keys(ENTRY_OPTIONS).some(name => options[name] !== undefined)
}

/**
 * One outlet of options, checked as a catalogue's file is.
 *
 * @throws UsageError or CatalogueError
 */
export function readEntry(domain: string, options: CommandContext['options']): Catalogue {
  const text = (name: string) => (typeof options[name] === 'string' ? options[name].trim() : undefined)
  const list = (name: string) => (Array.isArray(options[name]) ? options[name] : [])
  const country = text('country')?.toUpperCase()
  const languages = text('languages')
  const [feeds, sitemaps] = [list('feed'), list('sitemap')]
  if (country === undefined || languages === undefined || feeds.length + sitemaps.length === 0) {
    throw new UsageError('An outlet needs --country, --languages, and --feed or --sitemap; see --help.')
  }
  const zone = Object.entries(TIME_ZONES).find(([code]) => code === country)?.[1]
  const outlet = {
    name: text('name') ?? domain,
    domain,
    country,
    languages: languages.split(',').map(code => code.trim().toLowerCase()),
    timeZone: text('time-zone') ?? zone ?? '',
    feeds,
    sitemaps,
  }
  return readCatalogue(JSON.stringify({ outlets: [outlet] }))
}
