import { type Figures, percent, rounded, say, sum } from '#bench/figures'
import { recogniseInterstitial } from '#services/normaliser/interstitials/interstitials'
import { openingOf } from '#services/normaliser/interstitials/paywall'
import { parsePage } from '#services/normaliser/markup/tree'
import { readMetadata } from '#services/normaliser/metadata/metadata'
import { titleChoice } from '#services/normaliser/metadata/title'
import { readPageText } from '#services/normaliser/text/page-text'
import { ANNOUNCED, ANNOUNCED_AT, INTERSTITIAL_EXAMPLES } from '#test/normaliser/interstitials'
import { scoreAuthors } from './authors.ts'
import { scoreDate } from './dates.ts'
import { createIdentityScore } from './identity.ts'
import { createTextScore } from './text.ts'
import { type Count, type ReadPage, SETS, truePages } from './truth.ts'

/**
 * Compares what we read on pages with the values that people, or parsers that people wrote, read on
 * the same pages. Each page is read once. `text_cpu_ms` is the processor time for the text of one
 * page, of all threads of this process.
 *
 * @param every one page of so many of each set is read
 */
export async function measurePages(data: string, every = 1): Promise<Figures> {
  const counted = new Map<string, boolean[]>()
  const count: Count = (figure, is) =>
    void (counted.get(figure)?.push(is) ?? counted.set(figure, [is]))
  const texts = createTextScore()
  const scoreIdentity = createIdentityScore(count)
  const real = { articles: 0, taken: 0 }
  const times: number[] = []
  for (const set of SETS) {
    let number = 0
    for await (const page of truePages(data, set)) {
      if (number++ % every > 0) continue
      const before = process.cpuUsage()
      const tree = parsePage(page.html)
      const found = readPageText(tree)
      const { user, system } = process.cpuUsage(before)
      times.push((user + system) / 1_000)
      const read = { ...page, found, meta: readMetadata(tree, page.url) }
      texts.add(read)
      scoreDate(read, count)
      scoreAuthors(read, count)
      if (set === 'fundus' && page.title !== null) count('titles_fundus_right', hasTitle(read))
      if (set === 'fundus' || set === 'trafilatura') scoreIdentity(read)
      if (set !== 'aeb') countTaken(read, real)
    }
  }
  return {
    ...texts.figures(),
    ...(times.length > 0 && { text_cpu_ms: rounded(sum(times) / times.length, 1) }),
    interstitials_recognised: recognised(),
    ...(real.articles > 0 && {
      interstitials_articles: real.articles,
      interstitials_false: real.taken,
    }),
    ...figuresOf(counted),
  }
}

function hasTitle({ meta, url, title }: ReadPage): boolean {
  const domain = new URL(url).hostname.replace(/^www\./, '')
  const found = titleChoice(meta, null, { name: domain, domain })
  return found?.value === title?.replace(/\s+/g, ' ').trim()
}

/**
 * Turns the counts into percentages. Each group of figures also gets the number of pages that its
 * first figure counts.
 */
function figuresOf(counted: Map<string, boolean[]>): Figures {
  const figures: Figures = {}
  for (const [figure, all] of counted) {
    const [group] = /^(?:dates|authors|titles)_[^_]+|^identity/.exec(figure) ?? [figure]
    figures[`${group}_pages`] ??= all.length
    figures[figure] = percent(all.filter(is => is).length, all.length)
  }
  return figures
}

/**
 * The share of our own examples of interstitials, in five languages, that the normaliser
 * recognises.
 */
function recognised(): number {
  const right = INTERSTITIAL_EXAMPLES.filter(({ kind, html, finalUrl = ANNOUNCED_AT }) => {
    const page = readPageText(parsePage(html))
    const { signs } = readMetadata(parsePage(html), finalUrl)
    const announced = {
      url: ANNOUNCED_AT,
      finalUrl,
      feedTitle: ANNOUNCED,
      outletDomain: 'dagkoerier.example',
    }
    const interstitial = recogniseInterstitial({ ...announced, html, page, signs })
    return (interstitial ?? (openingOf(page, false).paywalled ? 'paywall' : null)) === kind
  })
  return rounded(right.length / INTERSTITIAL_EXAMPLES.length, 4)
}

/**
 * Counts real articles that the normaliser takes for an interstitial. The feed's title is the
 * article's title, another title, or absent.
 */
function countTaken(
  { set, file, url, html, title, found, meta }: ReadPage,
  real: { articles: number; taken: number },
) {
  for (const feedTitle of new Set([title, 'Liveblog', null])) {
    const given = { url, finalUrl: url, feedTitle, outletDomain: new URL(url).hostname }
    const interstitial = recogniseInterstitial({ ...given, html, page: found, signs: meta.signs })
    real.articles += 1
    if (interstitial === null || found.paragraphs.length === 0) continue
    real.taken += 1
    say(`taken for an interstitial, ${interstitial}: ${set} ${file}`)
  }
}
