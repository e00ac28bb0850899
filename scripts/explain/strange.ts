import { readAddress } from '../../shared/articles/address.ts'
import type { StoredPage } from '../../shared/outlets/page.ts'
import { UsageError } from '../../shared/process/command.ts'

/**
 * A page that the crawler does not know: without an entry of a feed, of an outlet that is named for
 * its host.
 *
 * @param address null: a page of nowhere
 */
export function strangePage(address: string | null): StoredPage {
  const url = address === null ? 'https://unknown.invalid/page' : (readAddress(address)?.href ?? null)
  if (url === null) throw new UsageError(`"${address}" is no address of a page that --file could stand for.`)
  const domain = new URL(url).hostname.replace(/^www\./, '')
  return {
    pageId: 0n,
    url,
    finalUrl: url,
    status: 200,
    contentType: null,
    body: null,
    fetchedAt: new Date(),
    entry: null,
    outlet: {
      ...{ name: domain, domain, country: 'NL', languages: [], timeZone: 'Europe/Amsterdam' },
      ...{ feeds: [], sitemaps: [] },
    },
  }
}
