import { recogniseInterstitial } from '../../services/normaliser/interstitials/interstitials.ts'
import { openingOf } from '../../services/normaliser/interstitials/paywall.ts'
import { parsePage } from '../../services/normaliser/markup/tree.ts'
import { readMetadata } from '../../services/normaliser/metadata/metadata.ts'
import { readPageText } from '../../services/normaliser/text/page-text.ts'
import { ANNOUNCED, ANNOUNCED_AT, INTERSTITIAL_EXAMPLES } from '../../test/normaliser/interstitials.ts'
import { type Figures, rounded, say } from '../figures.ts'
import { truePages } from './truth.ts'

/**
 * Interstitials. `walls_recognised`: the share of our own examples in five languages that are
 * recognised. `walls_false`: real articles of the sets that count as one, with their title, with
 * another title and with none from the feed, of `walls_articles`.
 */
export async function measureInterstitials(data: string): Promise<Figures> {
  const recognised = INTERSTITIAL_EXAMPLES.filter(({ kind, html, finalUrl }) => {
    const page = readPageText(parsePage(html))
    const url = { url: ANNOUNCED_AT, finalUrl: finalUrl ?? ANNOUNCED_AT }
    const { signs } = readMetadata(parsePage(html), url.finalUrl)
    const announced = { feedTitle: ANNOUNCED, outletDomain: 'dagkoerier.example' }
    const wall = recogniseInterstitial({ ...url, html, page, signs, ...announced })
    return (wall ?? (openingOf(page, false).walled ? 'paywall' : null)) === kind
  })
  let [articles, mistaken] = [0, 0]
  for (const set of ['fundus', 'trafilatura', 'htmldate'] as const) {
    for await (const { html, url, title, file } of truePages(data, set)) {
      const page = readPageText(parsePage(html))
      const { signs } = readMetadata(parsePage(html), url)
      for (const feedTitle of new Set([title, 'Liveblog', null])) {
        const given = { url, finalUrl: url, feedTitle, outletDomain: new URL(url).hostname }
        const wall = recogniseInterstitial({ ...given, html, page, signs })
        articles += 1
        if (wall === null || page.paragraphs.length === 0) continue
        mistaken += 1
        say(`taken for a ${wall}: ${set} ${file}`)
      }
    }
  }
  return {
    walls_recognised: rounded(recognised.length / INTERSTITIAL_EXAMPLES.length, 4),
    ...(articles === 0 ? {} : { walls_articles: articles, walls_false: mistaken }),
  }
}
