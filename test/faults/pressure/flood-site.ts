import type { Outlet } from '#shared/outlets/catalogue'
import { outletOf, rss } from '#test/crawler/crawl'
import { startSite } from '#test/crawler/site'
import { articlePage } from '#test/normaliser/stored'

/** Outlets that name thousands of articles at once. */
export interface FloodSite {
  catalogue: { outlets: Outlet[] }
  /** Articles that were asked for. */
  fetched(): number
  close(): Promise<unknown>
}

/** Settings of a crawler that polls the site once and fetches its pages without a pause. */
export const FLOODED = { CRAWL_ALLOW_PRIVATE: '127.0.0.0/8', CRAWL_HOST_DELAY: '1ms' }

/** A feed is read this far, see `services/crawler/feeds`. */
const FEED_LENGTH = 1_000

/**
 * @param hosts on loopback addresses of their own, because politeness goes by host; each with two
 * feeds of a thousand
 */
export async function startFloodSite(hosts: number): Promise<FloodSite> {
  const sites = await Promise.all(
    Array.from({ length: hosts }, (_, host) => startSite(`127.3.0.${host + 1}`)),
  )
  for (const [host, site] of sites.entries()) {
    const titleOf = (number: number) => `Raad ${host} spreekt over plan ${number}`
    for (const feed of [0, 1]) {
      const numbers = Array.from({ length: FEED_LENGTH }, (_, at) => feed * FEED_LENGTH + at)
      for (const number of numbers)
        site.on(`/nieuws/${number}`, () =>
          articlePage(titleOf(number), `plan ${number} van gemeente ${host}`),
        )
      const items = numbers.map(number => ({
        title: titleOf(number),
        link: `${site.origin}/nieuws/${number}`,
      }))
      site.on(`/feed-${feed}.xml`, rss(...items))
    }
  }
  return {
    catalogue: {
      outlets: sites.map(({ origin }, host) =>
        outletOf(`g${host}.example`, [`${origin}/feed-0.xml`, `${origin}/feed-1.xml`]),
      ),
    },
    fetched: () =>
      sites.reduce(
        (sum, { seen }) => sum + seen.filter(({ path }) => path.startsWith('/nieuws/')).length,
        0,
      ),
    close: () => Promise.all(sites.map(site => site.close())),
  }
}
