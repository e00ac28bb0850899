import { type Figures, percent } from '#bench/figures'
import { readSet } from '#bench/json-lines'
import { identify } from '#services/normaliser/identity'
import { addressKey, readAddress } from '#shared/articles/address'
import type { Count, ReadPage } from './truth.ts'

/** Ways in which other sites change an address that still names the same page. */
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

function withParameters(url: string, parameters: string): string {
  const [address = '', fragment] = url.split('#')
  return `${address}${address.includes('?') ? '&' : '?'}${parameters}${fragment === undefined ? '' : `#${fragment}`}`
}

/**
 * Measures keys of real addresses of outlets in the three countries. One figure is the share of
 * addresses whose variants all have the same key. The other is the number of different keys, as a
 * share of the addresses.
 */
export async function measureAddresses(data: string): Promise<Figures> {
  const rows = await readSet<{ url: string }>(data, 'urls-real-benelux/urls.jsonl')
  if (rows.length === 0) return {}
  const distinct = [...new Set(rows.map(row => row.url))].filter(url => readAddress(url) !== null)
  const one = distinct.filter(url =>
    VARIANTS.every(variant => addressKey(variant(url)) === addressKey(url)),
  )
  return {
    identity_addresses: distinct.length,
    identity_variants_one: percent(one.length, distinct.length),
    identity_keys_distinct: percent(new Set(distinct.map(addressKey)).size, distinct.length),
  }
}

/**
 * Counts whether the normaliser believes a page's canonical link, and whether the page has the same
 * key as another page.
 */
export function createIdentityScore(count: Count): (page: ReadPage) => void {
  const owners = new Map<string, string>()
  return ({ file, url, meta }) => {
    if (readAddress(url) === null) return
    const { canonical, amp, twins, languages: stated } = meta
    const languages = { own: stated[0] ?? '', twins }
    const outlet = { domain: new URL(url).hostname }
    const { addresses } = identify({ url, finalUrl: url, canonical, amp, languages, outlet })
    const link = canonical === null ? null : readAddress(canonical, url)
    const isShared = addresses.some(key => (owners.get(key) ?? file) !== file)
    count('identity_pages_sharing_a_key', isShared)
    if (link !== null) count('identity_canonical_believed', addresses[0] === addressKey(link.href))
    for (const key of addresses) owners.set(key, file)
  }
}
