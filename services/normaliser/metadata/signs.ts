import { addressKey, readAddress } from '../../../shared/articles/address.ts'
import type { StatedThing } from './jsonld.ts'
import { isArticle, isElsewhere } from './main-thing.ts'
import { named, PUBLISHED_NAMES } from './meta-names.ts'

/**
 * The statements by which a page calls itself an article. Interstitials make few of them, and never
 * all.
 */
export interface ArticleSigns {
  /** Its `og:type`, or the JSON-LD object about it, is an article. */
  typed: boolean
  /** It states when it was published. */
  dated: boolean
  /** It does not ask search engines to keep it out of their index. */
  indexed: boolean
  /** Its canonical address is the address of the page, and not the root of a site. */
  canonical: boolean
}

/** @param thing the page's main thing in JSON-LD */
export function articleSigns(
  metas: Map<string, string[]>,
  thing: StatedThing | null,
  url: string,
  canonical: string | null,
): ArticleSigns {
  const own = thing !== null && isArticle(thing) && !isElsewhere(thing, [url, canonical]) ? thing : null
  const type = named(metas, ['og:type'])[0] ?? ''
  return {
    typed: own !== null || /^\W*(article|news\.?article|blog|video\.episode)\b/i.test(type),
    dated: (own?.published.length ?? 0) > 0 || named(metas, PUBLISHED_NAMES).some(date => /\d{4}/.test(date)),
    indexed: !named(metas, ['robots', 'googlebot']).some(words => /\b(?:noindex|none)\b/i.test(words)),
    canonical: leadsHere(canonical, url),
  }
}

function leadsHere(canonical: string | null, url: string): boolean {
  const [target, here] = [readAddress(canonical ?? '', url), readAddress(url)]
  if (canonical === null || target === null || here === null) return false
  return addressKey(target.href) === addressKey(here.href) && (here.pathname !== '/' || here.search !== '')
}
