import { cutText, SNIPPET_LENGTH, snippetOf } from '#search/analysis/text'
import type { NewArticle } from '#search/types'
import { AGENCY_RULES, agenciesOf } from '#shared/articles/agencies'
import { PAGE_LIMITS, plainText } from '#shared/articles/plain-text'
import { SETTINGS } from '#shared/config/settings'
import { decodeText } from '#shared/encoding/decode'
import type { Origins, Source } from '#shared/outlets/origins'
import { type FeedEntry, NO_WORDS, type StoredPage } from '#shared/outlets/page'
import {
  linksOf,
  type Rights,
  type RightsRules,
  readRights,
  refusalInWords,
  rightsRules,
} from '#shared/outlets/rights'
import { pageAgencies } from './authors/agencies.ts'
import { authorChoice } from './authors/authors.ts'
import { bestOf, type Candidate, NO_ORIGIN, originOf } from './candidate.ts'
import { type Claim, claimOf } from './claims.ts'
import { dateChoice } from './dates/published.ts'
import { type Identity, identify, isNoArticle } from './identity.ts'
import { type InterstitialKind, recogniseInterstitial } from './interstitials/interstitials.ts'
import { openingOf, paidElements } from './interstitials/paywall.ts'
import { textFingerprint } from './interstitials/served.ts'
import { detectLanguage, type LanguageQuestion, languageOrigin } from './languages/detection.ts'
import { isLanguage, isRelated, speaksOf } from './languages/phrases.ts'
import { fold } from './markup/plain.ts'
import { parsePage } from './markup/tree.ts'
import { type PageMetadata, readMetadata } from './metadata/metadata.ts'
import { named } from './metadata/signs.ts'
import { statementsOf } from './metadata/statements.ts'
import { titleChoice } from './metadata/title.ts'
import { lessonOf, partedBy, type Template } from './template.ts'
import { feedTexts } from './text/feed-text.ts'
import { textInData } from './text/page-data.ts'
import { readPageText } from './text/page-text.ts'

/*
 * Composing is pure: it makes an article or a refusal from a stored page and its feed entry. First
 * it decides whether the page is the article. Then each field takes its first candidate without an
 * objection.
 */

/** Why a page can never become an article; stored in `pages.reason`. */
type Refusal = 'language' | 'no-title' | 'not-an-article' | 'rights'

/** The result for a stored page: an article, or a refusal. */
export type Composition =
  | {
      kind: 'article'
      article: NewArticle
      /** The sources of the article's fields. */
      origins: Origins
      /** The lines that other pages of the outlet may share; null for an interstitial. */
      lesson: string[] | null
      /** The interstitial that replaced the article, or cut it short. */
      interstitial: InterstitialKind | null
      /**
       * The fingerprint of the page's own text, for `served_texts`; null when the text came from
       * the feed.
       */
      fingerprint: Uint8Array | null
      /** The canonical address that the page states, if it is another one. */
      claim: Claim | null
      /** Whether the text contains a word of the title, and also a word of the feed's title. */
      titled: boolean
      rights: Rights
    }
  | Refused

export interface Refused {
  kind: 'refused'
  reason: Refusal
  detail: string
  interstitial: InterstitialKind | null
  rights: Rights
}

/** The rules of rights under the default settings, for callers without settings of their own. */
const DEFAULT_RULES = rightsRules({
  CRAWL_USER_AGENT: SETTINGS.CRAWL_USER_AGENT.default,
  RIGHTS_TDM: SETTINGS.RIGHTS_TDM.default,
})

/** What is known of a page beside its answer. */
export interface ComposeOptions {
  /** The outlet served the same text at other addresses, so it is not the article's. */
  repeated?: boolean
  /** Other articles of the outlet claim the same canonical address. */
  disbelieved?: boolean
  /** The lines that pages of the outlet share. */
  template?: Template | null
  /** How signals of rights are read. */
  rules?: RightsRules
}

/**
 * Makes an article from a stored page and its feed entry. The result depends only on the arguments.
 *
 * @param now bounds publication dates (decision 36)
 */
export async function composeArticle(
  page: StoredPage,
  now: Date,
  options: ComposeOptions = {},
): Promise<Composition> {
  const reading = readStored(page, now, options)
  const { feedTitle, interstitial, meta, texts, rights } = reading
  const refused = (reason: Refusal, detail: string): Refused => ({
    kind: 'refused',
    reason,
    detail,
    interstitial,
    rights,
  })
  if (rights.refusedBy !== null) return refused('rights', refusalInWords(rights.refusedBy))
  if (isNowhere(page, reading)) return refused('not-an-article', NOWHERE)
  const { outlet, entry } = believedPage(page, meta)
  const title = titleChoice(meta, entry, outlet)
  if (title === null) return refused(...withoutTitle(interstitial))
  const { own, text, body, question, language } = await readText(title.value, reading, {
    outlet,
    entry,
  })
  if (language === null)
    return refused('language', 'It is in none of the languages that are indexed.')
  const date = dateChoice(meta, entry, outlet, own?.value ?? '', now)
  const authors = authorChoice(meta, entry, outlet)
  const titles = new Set([title.value, feedTitle ?? title.value])
  const titled = [...titles].every(words => isRelated(words, body ?? ''))
  const strange = !titled && feedTitle !== null && !isRelated(feedTitle, `${title.value} ${body}`)
  const article: NewArticle = {
    ...identityOf(page, options.disbelieved ? { ...meta, canonical: null } : meta, language),
    title: title.value,
    body,
    ...snippetWithin(reading, text, entry),
    publishedAt: date?.value ?? null,
    authors: authors?.value ?? [],
    agencies: agenciesOf(pageAgencies(meta, entry, body)),
    agencyRules: AGENCY_RULES,
    outlet: { name: outlet.name, domain: outlet.domain },
    language,
    country: outlet.country,
    stated: statementsOf(meta, entry),
  }
  const fingerprint =
    own === null
      ? null
      : textFingerprint(strange ? `${title.value} ${own.value}` : own.value, { titled, strange })
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
    lesson: interstitial === null ? lessonOf(reading.paragraphs) : null,
    fingerprint,
    claim: claimOf(article, page, fingerprint),
    titled,
    rights,
  }
}

/**
 * The text of an article, of the page or of the feed, and its language; null: none of ours. A page
 * that a script will fill shows a filling text, in no language. Then the feed's words count.
 */
async function readText(
  title: string,
  { texts, meta }: PageReading,
  { outlet, entry }: Pick<StoredPage, 'outlet' | 'entry'>,
) {
  const declared = [...meta.languages, entry?.language ?? ''].filter(tag => tag !== '')
  const ask = async (own: Candidate<string> | null) => {
    const text = own ?? bestOf(feedTexts(entry))
    const body = text === null ? null : cutText(text.value, PAGE_LIMITS.body)
    const question: LanguageQuestion = {
      title,
      body,
      outletLanguages: outlet.languages,
      declared,
    }
    return { own, text, body, question, language: await detectLanguage(question) }
  }
  const own = bestOf(texts)
  const asked = await ask(own)
  const isFilling = own !== null && !own.value.split('\n\n').some(isLanguage)
  return asked.language === null && isFilling ? ask(null) : asked
}

const withoutTitle = (interstitial: InterstitialKind | null): [Refusal, string] => [
  interstitial === 'error page' ? 'not-an-article' : 'no-title',
  interstitial === null
    ? 'Neither the page nor the feed gives a title.'
    : `The outlet served a ${interstitial}, and its feed gives no title.`,
]

/**
 * Makes a snippet when the outlet allows less than the usual one, which is the beginning of the
 * text.
 */
function snippetWithin(
  { rights, unshown }: PageReading,
  text: Candidate<string> | null,
  entry: FeedEntry | null,
) {
  const most = Math.min(rights.snippet ?? SNIPPET_LENGTH, SNIPPET_LENGTH)
  const marked = [entry?.content, entry?.summary].some(fed => /data-nosnippet/i.test(fed ?? ''))
  if (text === null || (most === SNIPPET_LENGTH && unshown.size === 0 && !marked)) return {}
  if (text.source === 'page') {
    const quotable = text.value.split('\n\n').map(paragraph => unshown.get(paragraph) ?? paragraph)
    return { snippet: snippetOf(quotable.join('\n\n'), most) }
  }
  // A text from another source does not mark the parts that must not be shown.
  return { snippet: marked || reveals(text.value, unshown) ? null : snippetOf(text.value, most) }
}

/**
 * The number of equal words in a row that prove that another text contains a part of the page.
 * Whole paragraphs are not compared, because the other text may be divided differently.
 */
const TELLING = 4

/** Whether the beginning of another text contains words of a part that must not be shown. */
function reveals(text: string, unshown: PageReading['unshown']): boolean {
  const spaced = (words: string) => ` ${words} `
  const beginning = spaced(fold(text.slice(0, 2 * SNIPPET_LENGTH)))
  return [...unshown].some(([whole, quotable]) => {
    const words = fold(whole).split(' ')
    const allowed = spaced(fold(quotable))
    return words.slice(0, Math.max(1, words.length - TELLING + 1)).some((_, at) => {
      const run = spaced(words.slice(at, at + TELLING).join(' '))
      return run.trim() !== '' && beginning.includes(run) && !allowed.includes(run)
    })
  })
}

/**
 * Whether no address of a page can be its article's: the feed named an address on a foreign host,
 * and this address leads to no article of the outlet.
 */
function isNowhere(
  { foreign, body, url, finalUrl }: StoredPage,
  { interstitial, meta }: PageReading,
): boolean {
  if (foreign !== 'named') return false
  // An interstitial may stand in the article's place, under its address.
  const isInstead = body === null || (interstitial !== null && INSTEAD.has(interstitial))
  return isInstead ? isNoArticle(new URL(finalUrl)) : meta.url === url
}
const INSTEAD = new Set<InterstitialKind>(['forbidden', 'challenge', 'cookie wall'])
const NOWHERE =
  'The address that the feed names is on no host of the outlet, and leads to none of its articles.'

/**
 * The page without untrusted parts: when a foreign host answered, the texts of the feed are left
 * out.
 */
export function believedPage(page: StoredPage, meta: PageMetadata): StoredPage {
  const { entry, foreign, url } = page
  return entry !== null && foreign === 'answered' && meta.url !== url
    ? { ...page, entry: { ...entry, ...NO_WORDS } }
    : page
}

function identityOf(
  { url, finalUrl, foreign, outlet }: StoredPage,
  meta: PageMetadata,
  language: string,
): Identity {
  // An address on a foreign host is not the article's when only the feed names it. Otherwise, a
  // feed could publish its own text under an address of another site.
  const isElsewhere = foreign === 'named' || foreign === 'both'
  return identify({
    url: isElsewhere ? finalUrl : url,
    finalUrl: isElsewhere ? finalUrl : meta.url,
    canonical: meta.canonical,
    amp: meta.amp,
    languages: { own: language, twins: meta.twins },
    outlet,
  })
}

/** Whether another text of the page contains the beginning of the chosen text. */
function isRepeated({ source, value }: Candidate<string>, texts: Candidate<string>[]): boolean {
  const opening = value.slice(0, OPENING).replace(/\s+/g, ' ').trim()
  return texts.some(
    other => other.source !== source && other.value.replace(/\s+/g, ' ').includes(opening),
  )
}
/**
 * The length of the beginning that `isRepeated` looks for, in characters. That is about a sentence.
 */
const OPENING = 80

/** The trusted parts of a page. */
export interface PageReading {
  /** The title in the feed, as plain text. */
  feedTitle: string | null
  interstitial: InterstitialKind | null
  /** Empty when the page is an interstitial, because its metadata are not the article's. */
  meta: PageMetadata
  /** The texts that the page gives, in order of rank. */
  texts: Candidate<string>[]
  /**
   * `paragraphs`: the text on the page with its boilerplate. `boilerplate`: those paragraphs that
   * the article leaves out.
   */
  paragraphs: string[]
  boilerplate: string[]
  rights: Rights
  /** As in `PageText`. */
  unshown: ReadonlyMap<string, string>
}

/**
 * Statuses with which an outlet refuses a page. The article of such a page is made from its feed
 * alone.
 */
const REFUSALS = new Set([401, 402, 403, 407, 429, 451])

/** Reads a page and decides whether it is the article's. */
export function readStored(
  page: StoredPage,
  now: Date,
  { repeated = false, template = null, rules = DEFAULT_RULES }: ComposeOptions = {},
): PageReading {
  const feedTitle = plainText(page.entry?.title ?? '')
  const rightsBy = (stated: Partial<Parameters<typeof readRights>[0]>) =>
    readRights(
      {
        headers: page.rights,
        metas: new Map(),
        licences: [],
        hasUnshown: false,
        isLicensed: Boolean(page.outlet.licence),
        ...stated,
      },
      rules,
      now,
    )
  // Rules for robots on an interstitial apply only to the interstitial. A reservation of text and
  // data mining (TDM) comes from the outlet, so it also applies to the article.
  const nothing = (
    interstitial: InterstitialKind | null,
    rights = rightsBy({ headers: { ...page.rights, 'x-robots-tag': [] } }),
  ): PageReading => ({
    feedTitle,
    interstitial,
    meta: readMetadata(parsePage(''), page.url),
    texts: [],
    paragraphs: [],
    boilerplate: [],
    rights,
    unshown: new Map(),
  })
  if (REFUSALS.has(page.status)) return nothing('forbidden')
  if (page.body === null || page.body.length === 0) return nothing(null)
  const html = decodeText(page.body, { contentType: page.contentType, kind: 'html' })
  if (!isMarkup(html)) {
    const isText = /^text\/plain\b/i.test(page.contentType ?? '')
    return { ...nothing(null, rightsBy({})), texts: isText ? shown(plainText(html)) : [] }
  }
  const tree = parsePage(html)
  const meta = readMetadata(tree, page.finalUrl, linksOf(page.rights, 'canonical')[0])
  const paid = paidElements(tree, meta.paidParts)
  const read = readPageText(tree, meta.signs.typed && meta.signs.dated, paid)
  const interstitial = recogniseInterstitial({
    url: page.url,
    finalUrl: page.finalUrl,
    html,
    page: read,
    signs: meta.signs,
    feedTitle,
    outletDomain: page.outlet.domain,
  })
  if (interstitial !== null) return nothing(interstitial)
  const rights = rightsBy({
    metas: meta.named,
    licences: meta.licences,
    hasUnshown: read.unshown.size > 0,
  })
  if (repeated) return nothing('repeated text', rights)

  const { paragraphs, paywalled } = openingOf(read, meta.free)
  const parts = partedBy(template, paragraphs)
  const text = parts.own.join('\n\n') || null
  const reading = {
    feedTitle,
    meta,
    paragraphs,
    boilerplate: parts.boilerplate,
    rights,
    unshown: read.unshown,
  }
  if (paywalled) return { ...reading, interstitial: 'paywall', texts: shown(text) }
  const isStated = meta.free === true
  const isWalled = meta.free === false || (!isStated && isTiered(meta)) || read.parted
  const isText = text !== null && (feedTitle === null || speaksOf(feedTitle, text))
  const data =
    isWalled || (isText && paragraphs.some(isLanguage))
      ? null
      : textInData(html, { titles: titlesOf(meta, feedTitle), url: page.finalUrl, free: isStated })
  return {
    ...reading,
    interstitial: null,
    texts: [...shown(data, 'script'), ...ranked(text, meta)],
  }
}

/** The titles of a page's article. The document's own title often ends in the outlet's name. */
function titlesOf({ titles }: PageMetadata, feedTitle: string | null): string[] {
  const own = [feedTitle, titles.structured, titles.social, titles.headline]
  const known = own.filter(title => title !== null)
  return known.length > 0 || titles.document === null ? known : [titles.document]
}

/** Whether a meta tag says that the article is for readers who pay or log in. */
const isTiered = ({ metas }: PageMetadata) =>
  named(metas, ['article:content_tier']).some(tier => !/^free$/i.test(tier))

const shown = (value: string | null, source: Source = 'page'): Candidate<string>[] =>
  value === null ? [] : [{ source, value, against: null }]

/**
 * Orders the texts of a page. Pages that scripts build have their text only in JSON-LD. Otherwise
 * the text on the page is better, because `articleBody` often lacks the beginning or the end.
 */
function ranked(text: string | null, meta: PageMetadata): Candidate<string>[] {
  const stated = meta.body === null || meta.free === false ? null : plainOf(meta.body)
  if (stated === null) return shown(text)
  if (stated.length > SHORTEST_STATED && stated.length > 3 * (text?.length ?? 0))
    return [{ source: 'json-ld', value: stated, against: null }, ...shown(text)]
  return [...shown(text), { source: 'json-ld', value: stated, against: NOT_LONGER }]
}

/** The text of `articleBody`, which some systems escape once more than HTML needs. */
function plainOf(body: string): string | null {
  const text = plainText(body)
  return text !== null && /<\/(?:p|div|h[1-6]|li|strong|em)>|<br\s*\/?>/i.test(text)
    ? plainText(text)
    : text
}

const NOT_LONGER = 'not three times as long as the text on the page, or too short'
const SHORTEST_STATED = 200

/**
 * Feeds also name films, sounds and documents. The beginning of a page shows its type better than
 * its Content-Type.
 */
const isMarkup = (source: string) =>
  /<(!doctype html|html|head|body|meta|title|article|div|p)\b/i.test(source.slice(0, 2_048))
