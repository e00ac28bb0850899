import type { NewArticle } from '../../../search/indexing/article.ts'
import { plainText } from '../../../shared/articles/plain-text.ts'
import type { Origins } from '../../../shared/outlets/origins.ts'
import type { StoredPage } from '../../../shared/outlets/page.ts'
import { authorChoice } from '../authors/authors.ts'
import { bestOf, type Candidate, NO_ORIGIN, originOf } from '../candidate.ts'
import { dateChoice } from '../dates/published.ts'
import { type Identity, identify } from '../identity.ts'
import type { InterstitialKind } from '../interstitials/interstitials.ts'
import { isRelated } from '../interstitials/relation.ts'
import { textFingerprint } from '../interstitials/served.ts'
import { detectLanguage, type LanguageQuestion, languageOrigin } from '../languages/detection.ts'
import { MAX_TEXT } from '../markup/tree.ts'
import type { PageMetadata } from '../metadata/metadata.ts'
import { titleChoice } from '../metadata/title.ts'
import { lessonOf, type Template } from '../template.ts'
import { feedTexts } from '../text/feed-text.ts'
import { lookAt } from './look.ts'

/** Why a page never becomes an article; `pages.reason`. */
export type Refusal = 'language' | 'no-title' | 'not-an-article'

/** The result for a stored page: an article, or a refusal. */
export type Composition =
  | {
      kind: 'article'
      article: NewArticle
      /** Where its fields came from. */
      origins: Origins
      /** The lines that the page teaches about its outlet; null for an interstitial. */
      lesson: string[] | null
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
 * @param options.template what other pages of the outlet taught
 */
export async function composeArticle(
  page: StoredPage,
  now: Date,
  options: { repeated?: boolean; template?: Template | null } = {},
): Promise<Composition> {
  const { entry, outlet } = page
  const fed = entry?.title ? plainText(entry.title) : null
  const look = lookAt(page, fed, options.repeated ?? false, options.template ?? null)
  const { interstitial, meta, texts } = look

  const title = titleChoice(meta, entry, outlet)
  if (title === null) return withoutTitle(interstitial)
  const own = bestOf(texts)
  const text = own ?? bestOf(feedTexts(entry))
  const body = text === null ? null : cut(text.value)
  const question: LanguageQuestion = {
    title: title.value,
    body,
    outletLanguages: outlet.languages,
    declared: [...meta.languages, entry?.language ?? ''].filter(tag => tag !== ''),
  }
  const language = await detectLanguage(question)
  if (language === null) {
    return {
      kind: 'refused',
      reason: 'language',
      detail: 'It is in none of the languages that are indexed.',
      interstitial,
    }
  }
  const date = dateChoice(meta, entry, outlet, own?.value ?? '', now)
  const authors = authorChoice(meta, entry, outlet)
  const article: NewArticle = {
    ...identityOf(page, meta, language),
    title: title.value,
    body,
    publishedAt: date?.value ?? null,
    authors: authors?.value ?? [],
    outlet: { name: outlet.name, domain: outlet.domain },
    language,
    country: outlet.country,
  }
  return {
    kind: 'article',
    article,
    origins: {
      title: title.origin,
      date: date?.origin ?? NO_ORIGIN,
      authors: authors?.origin ?? NO_ORIGIN,
      text: text === null ? NO_ORIGIN : originOf(text.source, isRepeated(text, texts)),
      language: languageOrigin(question, language),
    },
    interstitial,
    lesson: interstitial === null ? lessonOf(look.paragraphs) : null,
    fingerprint: own === null ? null : textFingerprint(own.value),
    titled: isRelated(title.value, body ?? ''),
  }
}

function withoutTitle(interstitial: InterstitialKind | null): Composition {
  return {
    kind: 'refused',
    reason: interstitial === 'error page' ? 'not-an-article' : 'no-title',
    detail:
      interstitial === null
        ? 'Neither the page nor the feed gives a title.'
        : `The outlet served a ${interstitial}, and its feed gives no title.`,
    interstitial,
  }
}

function identityOf({ url, entry, outlet }: StoredPage, meta: PageMetadata, language: string): Identity {
  return identify({
    url,
    finalUrl: meta.url,
    canonical: meta.canonical,
    amp: meta.amp,
    guid: entry?.guid ?? null,
    languages: { own: language, twins: meta.twins },
    outlet,
  })
}

/** Cuts a body after the last word that fits into the limit. */
function cut(body: string): string {
  if (body.length <= MAX_TEXT) return body
  return body.slice(0, MAX_TEXT).replace(/\s\S*$/, '')
}

/** Whether the other text of the page begins as the chosen one does. */
function isRepeated({ source, value }: Candidate<string>, texts: Candidate<string>[]): boolean {
  const opening = value.slice(0, OPENING).replace(/\s+/g, ' ').trim()
  return texts.some(other => other.source !== source && other.value.replace(/\s+/g, ' ').includes(opening))
}
/** Characters: a sentence. */
const OPENING = 80
