import { plainText } from '../../../shared/articles/plain-text.ts'
import type { NewArticle } from '../../../shared/indexing/new-article.ts'
import type { StoredPage } from '../../../shared/pages/page.ts'
import { authorsOf } from '../authors/authors.ts'
import { publishedAt } from '../dates/published.ts'
import { identify } from '../identity/identity.ts'
import { textFingerprint } from '../interstitials/fingerprint.ts'
import type { InterstitialKind } from '../interstitials/interstitials.ts'
import { isRelated } from '../interstitials/relation.ts'
import { detectLanguage } from '../language/language.ts'
import { MAX_TEXT } from '../markup/tree.ts'
import { chooseTitle } from '../metadata/title.ts'
import { feedText } from '../text/feed-text.ts'
import { lookAt } from './look.ts'

/** Why a page never becomes an article; `pages.reason`. */
export type Refusal = 'language' | 'no-title' | 'not-an-article'

/** The result for a stored page: an article, or a refusal. */
export type Composition =
  | {
      kind: 'article'
      article: NewArticle
      /** The interstitial that stood in the article's place, or cut it short. */
      interstitial: InterstitialKind | null
      /**
       * Of the text that came from the page, for `served_texts`; null when it came from the feed.
       */
      fingerprint: Uint8Array | null
      /** Whether the text contains a word of the title. */
      titled: boolean
    }
  | { kind: 'refused'; reason: Refusal; detail: string; interstitial: InterstitialKind | null }

/**
 * Makes an article of a stored page and its feed entry. The result depends on the arguments alone.
 *
 * @param now bounds publication dates (decision 36)
 * @param options.repeated the page's text was served under other addresses, so it is not the
 * article's
 */
export async function composeArticle(
  page: StoredPage,
  now: Date,
  options: { repeated?: boolean } = {},
): Promise<Composition> {
  const { entry, outlet } = page
  const fed = entry?.title ? plainText(entry.title) : null
  const { interstitial, meta, text } = lookAt(page, fed, options.repeated ?? false)

  const title = chooseTitle(meta, entry, outlet)
  if (title === null) {
    const detail =
      interstitial === null
        ? 'Neither the page nor the feed gives a title.'
        : `The outlet served a ${interstitial}, and its feed gives no title.`
    return {
      kind: 'refused',
      reason: interstitial === 'error page' ? 'not-an-article' : 'no-title',
      detail,
      interstitial,
    }
  }
  const body = cut(text ?? (entry && (feedText(entry.content) ?? feedText(entry.summary))))
  const language = await detectLanguage({
    title,
    body,
    outletLanguages: outlet.languages,
    declared: [...meta.languages, entry?.language ?? ''].filter(tag => tag !== ''),
  })
  if (language === null) {
    return {
      kind: 'refused',
      reason: 'language',
      detail: 'It is in none of the languages that are indexed.',
      interstitial,
    }
  }
  const { url, addresses } = identify({
    url: page.url,
    finalUrl: meta.url,
    canonical: meta.canonical,
    amp: meta.amp,
    guid: entry?.guid ?? null,
    outlet,
  })
  const article: NewArticle = {
    url,
    addresses,
    title,
    body,
    publishedAt: publishedAt(meta, entry, outlet, text ?? '', now),
    authors: authorsOf(meta, entry, outlet),
    outlet: { name: outlet.name, domain: outlet.domain },
    language,
    country: outlet.country,
  }
  const fingerprint = text === null ? null : textFingerprint(text)
  return { kind: 'article', article, interstitial, fingerprint, titled: isRelated(title, body ?? '') }
}

/** Cuts a body after the last word that fits into the limit. */
function cut(body: string | null): string | null {
  if (body === null || body.length <= MAX_TEXT) return body
  return body.slice(0, MAX_TEXT).replace(/\s\S*$/, '')
}
