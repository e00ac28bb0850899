import { siteOf } from './sites.ts'

/** A host with due work, for one of the outlets that need it. */
export interface Candidate {
  host: string
  outletNo: number
  /** The catalogue names a feed on this host. */
  catalogued: boolean
  /** Pages of the outlet have been late. */
  slowed: boolean
}

/** A host that is visited, for which a visit was called, or which pauses after a request. */
export interface UnderWay {
  host: string
  /** The outlet that the visit is for; null: for none in particular. */
  outletNo: number | null
  catalogued: boolean
  /** No visit, only a pause. It counts for the site all the same. */
  pausing: boolean
}

/** Hosts that are visited for one outlet at a time, and for an outlet whose pages are late. */
const OF_AN_OUTLET = 4
const OF_A_SLOW_ONE = 1
/**
 * Hosts of one site that are visited or pause at a time. A site with a thousand subdomains thus
 * gets at most four requests in each CRAWL_HOST_DELAY.
 */
const OF_A_SITE = 4

/**
 * Chooses the hosts that are visited now. Outlets take turns: the first host of each comes before
 * the second of any. Hosts of the catalogue's feeds do not count towards the limits, because only
 * the operator can name them.
 *
 * @param candidates the hosts of each outlet in the order of their turns
 * @param domains the domains of the catalogue's outlets
 * @param limit the largest number of hosts
 */
export function chooseHosts(
  candidates: Candidate[],
  underWay: UnderWay[],
  domains: ReadonlySet<string>,
  limit: number,
): Candidate[] {
  const visits = new Map<number | null, number>()
  const sites = new Map<string, number>()
  const busy = new Set<string>()
  const pausing = new Set<string>()
  for (const { host, outletNo, catalogued, pausing: isPausing } of underWay) {
    ;(isPausing ? pausing : busy).add(host)
    if (catalogued) continue
    if (!isPausing) add(visits, outletNo)
    add(sites, siteOf(host, domains))
  }
  const chosen: Candidate[] = []
  const isFree = ({ host, outletNo, catalogued, slowed }: Candidate) => {
    if (busy.has(host)) return false
    if (catalogued) return true
    // A host that pauses is already counted for its site.
    const others = (sites.get(siteOf(host, domains)) ?? 0) - (pausing.has(host) ? 1 : 0)
    return others < OF_A_SITE && (visits.get(outletNo) ?? 0) < (slowed ? OF_A_SLOW_ONE : OF_AN_OUTLET)
  }
  const choose = (candidate: Candidate) => {
    const { host, outletNo, catalogued } = candidate
    chosen.push(candidate)
    busy.add(host)
    if (catalogued) return
    add(visits, outletNo)
    if (!pausing.has(host)) add(sites, siteOf(host, domains))
  }
  let lists = [...Map.groupBy(candidates, ({ outletNo }) => outletNo).values()]
  while (lists.length > 0 && chosen.length < limit) {
    lists = lists.flatMap(list => {
      const at = list.findIndex(isFree)
      const candidate = list[at]
      if (candidate === undefined || chosen.length >= limit) return []
      choose(candidate)
      return [list.slice(at + 1)]
    })
  }
  return chosen
}

const add = <K>(counts: Map<K, number>, key: K) => counts.set(key, (counts.get(key) ?? 0) + 1)
