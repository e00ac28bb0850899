import { SAMPLE_OUTLETS } from '../../infra/outlets/sample/outlets.ts'
import { textsOf } from '../../infra/outlets/sample/texts.ts'
import type { Pool } from '../../shared/postgres/pool.ts'
import { readFlow } from '../../shared/status/flow.ts'
import { createRandom } from '../../test/faults/random.ts'
import type { SiteOutlet } from '../../test/faults/site/outlets.ts'

/** Share of a day's articles by hour: little at night, most in the morning. */
const BY_HOUR = [6, 4, 3, 3, 5, 12, 28, 42, 54, 60, 62, 62, 58, 55, 56, 58, 60, 58, 50, 44, 38, 30, 20, 12]
const HOUR_MS = 3_600_000
const DAYS_OF_WEEK = 7

/** An article that is to come: when, in ms since the beginning of the week, and at which outlet. */
interface Entry {
  at: number
  outlet: number
}

/** When each article of a week is published, ascending: by the hours of a day, and by chance. */
export function makeTimetable(perDay: number, outlets: number): Entry[] {
  const random = createRandom(1, 'week')
  const hours = running(BY_HOUR)
  // The outlet with number n has about n times fewer articles than the first.
  const diligence = running(Array.from({ length: outlets }, (_, number) => 1 / (number + 8)))
  const entries: Entry[] = []
  for (let day = 0; day < DAYS_OF_WEEK; day++) {
    for (let n = 0; n < perDay; n++) {
      const hour = day * 24 + drawn(hours, random.next()) + random.next()
      entries.push({ at: hour * HOUR_MS, outlet: drawn(diligence, random.next()) })
    }
  }
  return entries.sort((a, b) => a.at - b.at)
}

function running(weights: number[]): number[] {
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  let sum = 0
  return weights.map(weight => {
    sum += weight
    return sum / total
  })
}

/** The first place whose running share is above the chance. */
const drawn = (shares: number[], chance: number) =>
  Math.min(
    shares.length - 1,
    shares.findIndex(share => chance < share),
  )

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

/** The state of the work at a moment. */
export interface Sample {
  /** Of the simulated week. */
  hour: number
  published: number
  articles: number
  /** Pages that could be fetched now. */
  due: number
  /** Pages that were fetched and are to be normalised. */
  stored: number
}

export async function takeSample(pool: Pool, hour: number, published: number): Promise<Sample> {
  const { articles, pages } = await readFlow(pool)
  return { hour, published, articles: Number(articles), due: Number(pages.due), stored: Number(pages.stored) }
}

/** The bench sends this to the process of the site first. */
export interface Order {
  port: number
  outlets: number
  perDay: number
  /** So many simulated seconds pass in a real one. */
  speed: number
}

/** The site says this at its beginning, and its state when it is asked. */
export type Said =
  | { kind: 'ready' }
  | {
      kind: 'state'
      /** Real time of each article's publication, ms since 1970, by its number from 1. */
      published: number[]
      /** Whether the week is over. */
      over: boolean
      requests: { feeds: number; unchanged: number; pages: number }
    }
