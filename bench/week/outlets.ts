import { SAMPLE_OUTLETS } from '../../infra/outlets/sample/outlets.ts'
import { textsOf } from '../../infra/outlets/sample/texts.ts'
import type { SiteOutlet } from '../../test/faults/site/outlets.ts'

/** Languages of the outlets, by their share. */
const LANGUAGES = ['nl', 'nl', 'nl', 'nl', 'fr', 'fr', 'fr', 'de', 'lb', 'en'] as const
const COUNTRIES = { nl: ['NL', 'BE'], fr: ['BE', 'LU'], de: ['LU'], lb: ['LU'], en: ['NL', 'BE', 'LU'] } as const
const TIME_ZONES = { NL: 'Europe/Amsterdam', BE: 'Europe/Brussels', LU: 'Europe/Luxembourg' } as const

/** Outlets with an address each in 127.8.0.0/16, because politeness goes by host. */
export function weekOutlets(count: number): SiteOutlet[] {
  const texts = new Set(SAMPLE_OUTLETS.flatMap(outlet => textsOf(outlet).map(({ language }) => language)))
  const languages = LANGUAGES.filter(language => texts.has(language))
  return Array.from({ length: count }, (_, index) => {
    const language = languages[index % languages.length]!
    const countries = COUNTRIES[language]
    const country = countries[index % countries.length]!
    return {
      name: `Outlet ${index + 1}`,
      domain: `outlet-${index + 1}.example`,
      country,
      language,
      timeZone: TIME_ZONES[country],
      address: `127.8.${Math.floor(index / 250)}.${(index % 250) + 1}`,
      feeds: [{ path: '/rss.xml', format: index % 4 === 3 ? 'atom' : 'rss', links: 'plain' }],
    }
  })
}
