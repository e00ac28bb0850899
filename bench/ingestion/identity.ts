import { join } from 'node:path'
import { identify } from '../../services/normaliser/identity.ts'
import { parsePage } from '../../services/normaliser/markup/tree.ts'
import { readMetadata } from '../../services/normaliser/metadata/metadata.ts'
import { addressKey, readAddress } from '../../shared/articles/address.ts'
import { type Figures, percent, say } from '../figures.ts'
import { readJsonLines } from '../json-lines.ts'
import { type TruePage, truePages } from './truth.ts'

/** Variants in which the same address appears. */
const VARIANTS: ((url: string) => string)[] = [
  url => url.replace(/^https?/, 'http'),
  url => url.replace(/^https?/, 'https'),
  url => (/\/\/www\./.test(url) ? url.replace('//www.', '//') : url.replace('//', '//www.')),
  url => (/\/\/www\./.test(url) ? url.replace('//www.', '//m.') : url),
  url => withParameters(url, 'utm_source=rss&utm_medium=feed&utm_campaign=nieuws'),
  url => withParameters(url, 'fbclid=IwAR0a1b2c'),
  url => withParameters(url, 'xtor=RSS-3'),
  url => `${url.split('#')[0]}#reacties`,
  url => (/[?#]/.test(url) || /\.\w{2,5}$/.test(url) ? url : `${url.replace(/\/$/, '')}/`),
  url => (/[?#]/.test(url) || /\.\w{2,5}$/.test(url) ? url : `${url.replace(/\/$/, '')}/amp`),
]

/**
 * Of real addresses of the three countries' outlets: the share whose variants all have one key, and
 * the share with a key of their own. Of pages of html-fundus and html-trafilatura: the share whose
 * canonical link is accepted, and the share that shares a key with another page.
 */
export async function measureIdentity(data: string): Promise<Figures> {
  return { ...(await measureAddresses(join(data, 'urls-real-benelux', 'urls.jsonl'))), ...(await measurePages(data)) }
}

async function measureAddresses(file: string): Promise<Figures> {
  const rows = await readJsonLines<{ url: string }>(file).catch(() => null)
  if (rows === null) {
    say(`skipped: no ${file}`)
    return {}
  }
  const urls = rows.map(row => row.url)
  const distinct = [...new Set(urls)].filter(url => readAddress(url) !== null)
  const one = distinct.filter(url => VARIANTS.every(variant => addressKey(variant(url)) === addressKey(url)))
  const keys = distinct.map(addressKey)
  return {
    identity_addresses: distinct.length,
    identity_variants_one: percent(one.length, distinct.length),
    identity_keys_distinct: percent(new Set(keys).size, distinct.length),
  }
}

async function measurePages(data: string): Promise<Figures> {
  const owners = new Map<string, string>()
  const counted = { pages: 0, linked: 0, believed: 0, shared: 0 }
  for (const set of ['fundus', 'trafilatura'] as const) {
    for await (const page of truePages(data, set)) {
      if (readAddress(page.url) === null) continue
      const { addresses, canonical } = identityOf(page)
      counted.pages += 1
      if (canonical !== null) counted.linked += 1
      if (canonical !== null && addresses[0] === addressKey(canonical.href)) counted.believed += 1
      if (addresses.some(key => (owners.get(key) ?? page.file) !== page.file)) counted.shared += 1
      for (const key of addresses) owners.set(key, page.file)
    }
  }
  if (counted.pages === 0) return {}
  return {
    identity_pages: counted.pages,
    identity_canonical_believed: percent(counted.believed, counted.linked),
    identity_pages_sharing_a_key: percent(counted.shared, counted.pages),
  }
}

/** The keys of a page, its own first, and the canonical link that it names. */
function identityOf({ html, url }: TruePage): { addresses: string[]; canonical: URL | null } {
  const { canonical, amp, twins, languages: stated } = readMetadata(parsePage(html), url)
  const languages = { own: stated[0] ?? '', twins }
  const outlet = { domain: new URL(url).hostname }
  const { addresses } = identify({ url, finalUrl: url, canonical, amp, languages, outlet })
  return { addresses, canonical: canonical === null ? null : readAddress(canonical, url) }
}

function withParameters(url: string, parameters: string): string {
  const [address = '', fragment] = url.split('#')
  return `${address}${address.includes('?') ? '&' : '?'}${parameters}${fragment === undefined ? '' : `#${fragment}`}`
}
