import type { Config } from '#shared/config/config'
import { SETTINGS } from '#shared/config/settings'
import { counted } from '#shared/log/printable'
import type { Queryable } from '#shared/postgres/pool'
import { nameOf, rightsOf, type Signal, signalInWords } from './rights.ts'

/**
 * How many pages a value of RIGHTS_TDM stops. `refused`: they get no articles. `wordsAlone`: only
 * words find their articles.
 */
export interface Stopped {
  refused: number
  wordsAlone: number
}

/** The pages of an outlet that a signal stops, by value of RIGHTS_TDM. */
export interface Stop {
  domain: string
  licence: string | null
  /** The signal as `signalInWords` writes it, without the part that differs from page to page. */
  signal: string
  stops: Record<string, Stopped>
}

export const TDM_VALUES: readonly ['refuse', 'index-only', 'ignore'] = SETTINGS.RIGHTS_TDM.values

/**
 * Counts the pages of the catalogue's outlets that each signal stops, or would stop under another
 * value of RIGHTS_TDM.
 */
export async function readStops(db: Queryable, domain: string | null = null): Promise<Stop[]> {
  // Index: pages_rights.
  const { rows } = await db.query<{
    domain: string
    licence: string | null
    rights: Signal[]
    pages: number
  }>(
    `select o.domain, o.licence, p.rights, count(*)::int as pages from pages p join outlets o using (outlet_no)
      where p.rights is not null and (p.state = 'done' or p.reason = 'rights') and o.active
        and ($1::text is null or o.domain = $1)
      group by 1, 2, 3 order by 1`,
    [domain],
  )
  const found = new Map<string, Stop>()
  const none = () =>
    Object.fromEntries(TDM_VALUES.map(value => [value, { refused: 0, wordsAlone: 0 }]))
  for (const { domain, licence, rights, pages } of rows) {
    for (const value of TDM_VALUES) {
      const { refusedBy, wordsAloneBy } = rightsOf(rights, value, Boolean(licence), new Date())
      const by = refusedBy ?? wordsAloneBy
      if (by === null) continue
      const signal = signalInWords({ ...by, signal: nameOf(by.signal) })
      const key = `${domain} ${signal}`
      const stop = found.get(key) ?? { domain, licence, signal, stops: none() }
      found.set(key, stop)
      stop.stops[value]![refusedBy === null ? 'wordsAlone' : 'refused'] += pages
    }
  }
  return [...found.values()]
}

/** How many domains a sentence names. */
const NAMED = 5

/**
 * Says what the present value of RIGHTS_TDM stops. Robots rules are left out. Null: it stops
 * nothing.
 */
export function stopsInWords(
  stops: Stop[],
  { RIGHTS_TDM: now }: Pick<Config, 'RIGHTS_TDM'>,
): string | null {
  const own = stops.filter(
    ({ stops }) => stops.ignore?.refused === 0 && stops.ignore.wordsAlone === 0,
  )
  const sum = (what: keyof Stopped) =>
    own.reduce((all, { stops }) => all + (stops[now]?.[what] ?? 0), 0)
  const refused = sum('refused')
  const wordsAlone = sum('wordsAlone')
  if (refused + wordsAlone === 0) return null
  const stopping = own.filter(
    ({ stops }) => (stops[now]?.refused ?? 0) + (stops[now]?.wordsAlone ?? 0) > 0,
  )
  const domains = [...new Set(stopping.map(({ domain }) => domain))]
  const names = [...domains.slice(0, NAMED), ...(domains.length > NAMED ? ['…'] : [])].join(', ')
  return `RIGHTS_TDM=${now} stops ${counted(refused, 'article')} and makes no vector of ${wordsAlone}, of ${counted(domains.length, 'outlet')}: ${names}; "npm run outlets -- rights" tells what each value stops.`
}
