import { siteOf } from './sites.ts'

/** A host with something due, on behalf of one of the outlets that want it. */
export interface Candidate {
  host: string
  outletNo: number
  /** The catalogue names a feed on it. */
  catalogued: boolean
  /** Pages of its outlet have been late. */
  slowed: boolean
}

/** A host that is visited or was called for, or one that pauses after a request. */
export interface UnderWay {
  host: string
  /** On whose behalf; null: nobody's in particular. */
  outletNo: number | null
  catalogued: boolean
  /** Nobody is there; its site is left alone by so much. */
  pausing: boolean
}

/** Hosts that are visited at a time on behalf of one outlet, and of one whose pages are late. */
const OF_AN_OUTLET = 4
const OF_A_SLOW_ONE = 1
/**
 * Hosts of one site that are visited, or pause, at a time. A site with a thousand subdomains is
 * thus asked four times in each CRAWL_HOST_DELAY at most.
 */
const OF_A_SITE = 4

/**
 * Which hosts are to be visited now. Outlets take turns: the first host of each comes before the
 * second of any. Hosts of the catalogue's feeds are not counted, for nobody but the operator can
 * name them.
 *
 * @param candidates those of an outlet in the order in which they shall have their turn
 * @param domains of the catalogue's outlets
 * @param limit most hosts
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
    // A host that pauses is counted already.
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
