import { plainText } from '../../../shared/articles/plain-text.ts'
import { decodeText } from '../../../shared/encoding/decode.ts'
import type { StoredPage } from '../../../shared/outlets/page.ts'
import type { Candidate } from '../candidate.ts'
import { type InterstitialKind, recogniseInterstitial } from '../interstitials/interstitials.ts'
import { openingOf } from '../interstitials/paywall.ts'
import { parsePage } from '../markup/tree.ts'
import { type PageMetadata, readMetadata } from '../metadata/metadata.ts'
import { partedBy, type Template } from '../template.ts'
import { readPageText } from '../text/page-text.ts'

/** The parts of a page that can be believed. */
export interface Look {
  interstitial: InterstitialKind | null
  /** Of an empty page when the page is an interstitial: its metadata are not the article's. */
  meta: PageMetadata
  /** The texts that the page gives, in order of rank. */
  texts: Candidate<string>[]
  /** The text on the page with its furniture, and the paragraphs that were left out of it. */
  paragraphs: string[]
  furniture: string[]
}

/** Statuses with which an outlet refuses a page. Such a page is indexed from its feed alone. */
const REFUSALS = new Set([401, 402, 403, 407, 429, 451])

/**
 * Reads a page and decides whether it is the article's.
 *
 * @param feedTitle plain text, null without one
 * @param repeated the outlet has served the same text under other addresses
 */
export function lookAt(
  page: StoredPage,
  feedTitle: string | null,
  repeated: boolean,
  template: Template | null = null,
): Look {
  const nothing = (interstitial: InterstitialKind | null): Look => ({
    interstitial,
    meta: readMetadata(parsePage(''), page.url),
    texts: [],
    paragraphs: [],
    furniture: [],
  })
  if (REFUSALS.has(page.status)) return nothing('forbidden')
  if (page.body === null || page.body.length === 0) return nothing(null)
  const { text: html } = decodeText(page.body, { contentType: page.contentType, kind: 'html' })
  if (!isMarkup(html)) {
    const isText = /^text\/plain\b/i.test(page.contentType ?? '')
    return { ...nothing(null), texts: isText ? shown(plainText(html)) : [] }
  }
  const tree = parsePage(html)
  const read = readPageText(tree)
  const meta = readMetadata(tree, page.finalUrl)
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
  if (repeated) return nothing('repeated text')

  const { paragraphs, walled } = openingOf(read, meta.free)
  const parts = partedBy(template, paragraphs)
  const text = parts.own.join('\n\n') || null
  if (walled) return { interstitial: 'paywall', meta, texts: shown(text), paragraphs, furniture: parts.furniture }
  return { interstitial: null, meta, texts: ranked(text, meta), paragraphs, furniture: parts.furniture }
}

const shown = (text: string | null): Candidate<string>[] =>
  text === null ? [] : [{ source: 'page', value: text, against: null }]

/**
 * Pages that scripts build have their text in JSON-LD only. A text on the page is preferred: of 27
 * pages with `articleBody`, `articleBody` left out the opening on 14 and the end on 5.
 */
function ranked(text: string | null, meta: PageMetadata): Candidate<string>[] {
  const stated = meta.body === null || meta.free === false ? null : plainOf(meta.body)
  if (stated === null) return shown(text)
  if (stated.length > SHORTEST_STATED && stated.length > 3 * (text?.length ?? 0)) {
    return [{ source: 'json-ld', value: stated, against: null }, ...shown(text)]
  }
  return [...shown(text), { source: 'json-ld', value: stated, against: NOT_LONGER }]
}

/** The text of `articleBody`, which some systems escape once more than HTML needs. */
function plainOf(body: string): string | null {
  const text = plainText(body)
  return text !== null && /<\/(?:p|div|h[1-6]|li|strong|em)>|<br\s*\/?>/i.test(text) ? plainText(text) : text
}

const NOT_LONGER = 'not three times as long as the text on the page, or too short'
const SHORTEST_STATED = 200

/**
 * Feeds name films, sounds and documents too. The beginning of a page tells its type better than
 * its Content-Type.
 */
const isMarkup = (source: string) =>
  /<(!doctype html|html|head|body|meta|title|article|div|p)\b/i.test(source.slice(0, 2_048))
