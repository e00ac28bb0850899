import t from 'tap'
import { createFindings } from '../findings.ts'
import { createRandom } from '../random.ts'
import { composeArticle, type SiteArticle } from '../site/article.ts'
import { SITE_OUTLETS } from '../site/outlets.ts'
import { checkArticles, checkEmbeddings, checkOrder, checkPoller, checkSequence } from './checks.ts'
import type { Exported, Holdings } from './holdings.ts'

// A verdict that cannot condemn is worth nothing: each of these systems has one fault.

const random = createRandom(1, 'verdict')
const articles = Array.from({ length: 6 }, (_, index) => {
  const outlet = SITE_OUTLETS[index]
  if (!outlet) throw new Error('There are too few outlets.')
  return { ...composeArticle(random, outlet, index + 1, new Date()), mood: 'well' as const }
})
const urlOf = (article: SiteArticle) => `http://${article.outlet.address}${article.path}`
const site = { articles, urlOf }

/** A system that lost nothing. */
function sound(): Holdings & { exported: Exported[] } {
  const exported = articles.map(
    (article, index): Exported => ({
      id: `a${index}`,
      url: urlOf(article),
      title: article.title,
      country: article.outlet.country,
      language: article.outlet.language,
      published_at: null,
      ingested_at: new Date(1_000_000 + index).toISOString(),
    }),
  )
  const seqs = exported.map((_, index) => BigInt(index + 1))
  return {
    exported,
    order: exported.map(({ id, ingested_at }, index) => ({
      seq: BigInt(index + 1),
      id,
      ingested_at: new Date(ingested_at ?? 0),
    })),
    embeddings: seqs.map(seq => ({ seq, due_at: new Date(), embedded_at: new Date(), failed_at: null, error: null })),
    points: new Map(seqs.map(seq => [seq, 1])),
    status: {
      articles: exported.length,
      embedded: exported.length,
      pages: { waiting: 0, done: exported.length, refused: 0, failed: 0 },
      queues: {},
    },
  }
}

async function findingsIn(holdings: Holdings): Promise<string[]> {
  const findings = createFindings(() => {})
  await checkArticles(site, 0, holdings, async () => 'no feed brought its address', findings)
  checkEmbeddings(holdings, findings)
  checkOrder(holdings, findings)
  return findings.sentences()
}

t.test('a sound system is acquitted', async t => {
  t.same(await findingsIn(sound()), [])
})

t.test('an article that is lost is named, with what the site and the crawler know of it', async t => {
  const holdings = sound()
  holdings.exported.splice(2, 1)
  holdings.status.articles -= 1
  const [finding, ...others] = await findingsIn(holdings)
  t.match(finding, /N000003 is lost: .*no feed brought its address/)
  t.same(others, [])
})

t.test('an article that is there twice is named', async t => {
  const holdings = sound()
  const [first] = holdings.exported
  if (first) holdings.exported.push({ ...first, id: 'again', url: `${first.url}?b` })
  holdings.status.articles += 1
  t.match(await findingsIn(holdings), [/N000001 is there 2 times/])
})

t.test('a vector too few, one too many and a stray one are found', async t => {
  const holdings = sound()
  holdings.points = new Map([...(holdings.points ?? []), [1n, 0], [2n, 2], [99n, 1]])
  t.match(await findingsIn(holdings), [
    /a0 .* has no vector/,
    /2 vectors of number 2/,
    /number 99, which is no article/,
  ])
})

t.test('an embedding that was never promised, one not made and one given up are found', async t => {
  const holdings = sound()
  const [, late, refused] = holdings.embeddings
  holdings.embeddings.shift()
  if (late) late.embedded_at = null
  if (refused) refused.failed_at = new Date()
  const found = await findingsIn(holdings)
  t.match(found.slice(0, 3), [/never promised/, /not embedded/, /given up/])
})

t.test('an earlier time of ingestion after a later one is found (decision 23)', async t => {
  const holdings = sound()
  const last = holdings.order.at(-1)
  if (last) last.ingested_at = new Date(0)
  t.match(await findingsIn(holdings), [/a5 .* earlier time/])
})

t.test('a poller that missed one, and one that was given what is gone, are found', async t => {
  const holdings = sound()
  const seen = new Map(holdings.exported.map(article => [article.id, article]))
  const [first] = holdings.exported
  seen.delete('a4')
  if (first) seen.set('ghost', { ...first, id: 'ghost' })
  const findings = createFindings(() => {})
  checkPoller({ name: 'a poller', seen }, () => true, holdings, findings)
  t.match(findings.sentences(), [/never been given a4/, /was given ghost .* it is gone/])
})

t.test(
  'a sequence that thawed is found: too many, too few, twice, or others than at its beginning (decision 22)',
  async t => {
    const verdictOn = (total: number, ids: string[]) => {
      const findings = createFindings(() => {})
      checkSequence({ name: 's', question: { query: {}, matches: () => true }, total, ids }, sound(), findings)
      return findings.sentences()
    }
    t.same(verdictOn(3, ['a2', 'a0', 'a1']), [])
    t.match(verdictOn(3, ['a0', 'a1']), [/was given 2/, /missed 1/])
    t.match(verdictOn(2, ['a0', 'a1', 'a1']), [/twice/])
    t.match(verdictOn(3, ['a0', 'a1', 'a5']), [/not frozen.*missed 1 \(a2\).*given 1 others \(a5\)/])
  },
)
