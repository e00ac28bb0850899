import { indexText } from '../../search/analysis/index.ts'
import { authorsOf } from '../../services/normaliser/authors/authors.ts'
import { publishedAt } from '../../services/normaliser/dates/published.ts'
import { recogniseInterstitial } from '../../services/normaliser/interstitials/interstitials.ts'
import { openingOf } from '../../services/normaliser/interstitials/paywall.ts'
import { detectLanguage } from '../../services/normaliser/language/language.ts'
import { readMetadata } from '../../services/normaliser/metadata/metadata.ts'
import { chooseTitle } from '../../services/normaliser/metadata/title.ts'
import { readPageText } from '../../services/normaliser/text/page-text.ts'
import { decodeText } from '../../shared/encoding/decode.ts'
import type { TruePage } from './truth.ts'

const OUTLET = { name: 'Bench', domain: 'bench.example', timeZone: 'Europe/Luxembourg' }

/**
 * Measures how the computing time of a page is shared among the stages, in percent. One thread
 * takes the pages one after the other. The work of the database is not counted.
 */
export async function measureStages(pages: TruePage[]): Promise<Record<string, number>> {
  const times = new Map<string, number>()
  const timed = async <T>(stage: string, work: () => T): Promise<Awaited<T>> => {
    const start = performance.now()
    const result = await work()
    times.set(stage, (times.get(stage) ?? 0) + performance.now() - start)
    return result
  }
  const one = async (page: TruePage, bytes: Uint8Array) => {
    const { url, title } = page
    const html = (await timed('encoding', () => decodeText(bytes, { contentType: null, kind: 'html' }))).text
    const text = await timed('text', () => readPageText(html))
    const meta = await timed('metadata', () => readMetadata(html, url))
    await timed('walls', () => {
      const { signs } = meta
      recogniseInterstitial({
        url,
        finalUrl: url,
        html,
        page: text,
        signs,
        feedTitle: title,
        outletDomain: OUTLET.domain,
      })
      return openingOf(text, null)
    })
    const body = text.paragraphs.join('\n\n')
    const headline = await timed('metadata', () => chooseTitle(meta, null, OUTLET))
    await timed('dates', () => publishedAt(meta, null, OUTLET, body, new Date()))
    await timed('authors', () => authorsOf(meta, null, OUTLET))
    await timed('language', () => detectLanguage({ title: headline ?? '', body, outletLanguages: [] }))
    await timed('words', () => indexText(headline ?? '', body))
  }
  // One untimed pass compiles the code and loads the models.
  for (const page of pages.slice(0, 40)) await one(page, Buffer.from(page.html))
  times.clear()
  for (const page of pages) await one(page, Buffer.from(page.html))
  const total = [...times.values()].reduce((sum, time) => sum + time, 0)
  return Object.fromEntries(
    [...times].map(([stage, time]) => [`share_${stage}`, Math.round((time / total) * 1_000) / 10]),
  )
}
