import {
  type InterstitialKind,
  recogniseInterstitial,
} from '#services/normaliser/interstitials/interstitials'
import { openingOf } from '#services/normaliser/interstitials/paywall'
import { parsePage } from '#services/normaliser/markup/tree'
import { readMetadata } from '#services/normaliser/metadata/metadata'
import { readPageText } from '#services/normaliser/text/page-text'
import WRITTEN from './interstitials.json' with { type: 'json' }

/** A page such as outlets and their defences serve in an article's place. */
export interface InterstitialExample {
  name: string
  kind: InterstitialKind
  html: string
  /** Where redirects led; the article's own address when absent. */
  finalUrl?: string
  /** A sentence that must never become an article's text. */
  says: string
}

/** Under this title the feed announced the articles that the examples stand in for. */
export const ANNOUNCED = 'Brug over de Schelde blijft tot vrijdag dicht voor vrachtwagens'
export const ANNOUNCED_AT = 'https://www.dagkoerier.example/binnenland/2026/11/brug-schelde-dicht'

const page = (title: string, body: string, head = '') =>
  `<!doctype html><html><head><meta charset="utf-8"><title>${title}</title>${head}</head><body>${body}</body></html>`

/**
 * @param written its name, the title and the texts; the last text is what must not become an
 * article's. `interstitials.json` has them by kind, in five languages
 */
function example(
  kind: InterstitialKind,
  [name, title = '', ...texts]: string[],
): InterstitialExample {
  const body = `<main><h1>${title}</h1>${texts.map(text => (text.startsWith('<') ? text : `<p>${text}</p>`)).join('')}</main>`
  return { name: `${kind}: ${name}`, kind, html: page(title, body), says: texts.at(-1)! }
}

const paywall = (heading: string, says: string) =>
  page(
    ANNOUNCED,
    `<article><h1>${ANNOUNCED}</h1><p>De brug over de Schelde in Temse blijft zeker tot vrijdag dicht voor vrachtwagens van meer dan 3,5 ton.</p><div class="slot"><h2>${heading}</h2><p>${says}</p></div></article>`,
    '<script type="application/ld+json">{"@context":"https://schema.org","@type":"NewsArticle","isAccessibleForFree":false}</script>',
  )

const OWN_HOST = [
  'a host of its own',
  'Privacy',
  'Lees onze artikelen nadat u een keuze hebt gemaakt.',
]
const FRONT = [
  'the front page',
  'De Dagkoerier: het laatste nieuws',
  'Een lange aankondiging. '.repeat(40),
]
const CONSENT =
  'https://myprivacy.uitgever.example/consent?siteKey=abc&callbackUrl=https%3A%2F%2Fwww.dagkoerier.example'

export const INTERSTITIAL_EXAMPLES: InterstitialExample[] = [
  { ...example('cookie wall', OWN_HOST), finalUrl: CONSENT },
  ...(['cookie wall', 'challenge', 'error page'] as const).flatMap(kind =>
    WRITTEN[kind].map(one => example(kind, one)),
  ),
  { ...example('error page', FRONT), finalUrl: 'https://www.dagkoerier.example/' },
  ...WRITTEN.paywall.map(([language, heading = '', says = '']): InterstitialExample => {
    return { name: `paywall: ${language}`, kind: 'paywall', html: paywall(heading, says), says }
  }),
]

/** The interstitial that the normaliser takes a page for; null: it is an article. */
export function interstitialOf(
  html: string,
  more: {
    feedTitle?: string | null | undefined
    finalUrl?: string | undefined
    url?: string | undefined
  } = {},
): InterstitialKind | null {
  const { feedTitle = ANNOUNCED, url = ANNOUNCED_AT, finalUrl = url } = more
  const page = readPageText(parsePage(html))
  const { signs } = readMetadata(parsePage(html), finalUrl)
  const outletDomain = new URL(url).hostname.replace(/^www\./, '')
  const found = recogniseInterstitial({ url, finalUrl, html, page, signs, feedTitle, outletDomain })
  if (found !== null) return found
  return openingOf(page, html.includes('"isAccessibleForFree":false') ? false : null).paywalled
    ? 'paywall'
    : null
}
