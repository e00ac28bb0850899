import { isIP } from 'node:net'
import { getDomain } from 'tldts'

/**
 * The site that a host belongs to. It is the registrable domain by the public suffix list, with the
 * list's private part: two blogs at one provider are two sites. A catalogue's domain below it is a
 * site of its own. A host without a registrable domain, such as an address, is a site by itself,
 * port included.
 *
 * @param domains the domains of the catalogue's outlets
 */
export function siteOf(host: string, domains: ReadonlySet<string>): string {
  const name = URL.parse(`http://${host}`)?.hostname ?? host
  if (isIP(name.replace(/^\[|\]$/g, '')) !== 0) return host
  const registrable = getDomain(name, { allowPrivateDomains: true })
  if (registrable === null) return host
  for (let at = name; at.length > registrable.length; at = at.slice(at.indexOf('.') + 1)) if (domains.has(at)) return at
  return registrable
}
