import t from 'tap'
import { createFindings } from '#test/faults/findings'
import { createRandom } from '#test/faults/random'
import { SITE_OUTLETS } from '#test/faults/site/outlets'
import { composeArticle, type SiteArticle } from '#test/faults/site/site-article'
import { checkArticles, checkEmbeddings, checkOrder, checkPoller, checkSequence } from './checks.ts'
import type { Exported, Holdings } from './holdings.ts'

// A verdict that cannot condemn is worth nothing: each of these systems has one fault.

const random = createRandom(1, 'verdict')
const articles = SITE_OUTLETS.slice(0, 6).map((outlet, index) => ({
  ...composeArticle(random, outlet, index + 1, new Date()),
  mood: 'well' as const,
}))
const urlOf = (article: SiteArticle) => `http://${article.outlet.address}${article.path}`
const site = { articles, urlOf }

/** A system that lost nothing. */
function sound(): Holdings {
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
    embeddings: seqs.map(seq => ({
      seq,
      due_at: new Date(),
      embedded_at: new Date(),
      failed_at: null,
      error: null,
    })),
    points: new Map(seqs.map(seq => [seq, 1])),
    status: {
      articles: exported.length,
      embedded: exported.length,
      pages: { waiting: 0, done: exported.length, refused: 0, failed: 0 },
      queues: {},
    },
  }
}

/** How each case spoils a sound system, and the findings that the verdict must then have. */
const CASES: Record<string, [spoil: (holdings: Holdings) => void, found: RegExp[]]> = {
  'a sound system is acquitted': [() => {}, []],
  'an article that is lost is named, with what the site and the crawler know of it': [
    ({ exported, status }) => {
      exported.splice(2, 1)
      status.articles -= 1
    },
    [/N000003 is lost: .*no feed brought its address/],
  ],
  'an article that is there twice is named': [
    ({ exported, status }) => {
      exported.push({ ...exported[0]!, id: 'again', url: `${exported[0]!.url}?b` })
      status.articles += 1
    },
    [/N000001 is there 2 times/],
  ],
  'a vector too few, one too many and a stray one are found': [
    holdings => {
      holdings.points = new Map([...(holdings.points ?? []), [1n, 0], [2n, 2], [99n, 1]])
    },
    [/a0 .* has no vector/, /2 vectors of number 2/, /number 99, which is no article/],
  ],
  'an embedding that was never promised, one not made and one given up are found': [
    ({ embeddings }) => {
      Object.assign(embeddings[1]!, { embedded_at: null })
      Object.assign(embeddings[2]!, { failed_at: new Date() })
      embeddings.shift()
    },
    [/never promised/, /not embedded/, /given up/, /status counts 6 embedded articles, and 4 are/],
  ],
  'an earlier time of ingestion after a later one is found (decision 23)': [
    ({ order }) => Object.assign(order.at(-1)!, { ingested_at: new Date(0) }),
    [/a5 .* earlier time/],
  ],
}
for (const [name, [spoil, found]] of Object.entries(CASES)) {
  t.test(name, async t => {
    const holdings = sound()
    spoil(holdings)
    const findings = createFindings(() => {})
    await checkArticles(site, 0, holdings, async () => 'no feed brought its address', findings)
    checkEmbeddings(holdings, findings)
    checkOrder(holdings, findings)
    t.equal(findings.sentences().length, found.length, findings.sentences().join('\n'))
    t.match(findings.sentences(), found)
  })
}

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
  'decision 22: a sequence that thawed is found: too many, too few, twice, or others',
  async t => {
    const verdictOn = (total: number, ids: string[]) => {
      const findings = createFindings(() => {})
      checkSequence(
        { name: 's', question: { query: {}, matches: () => true }, total, ids },
        sound(),
        findings,
      )
      return findings.sentences()
    }
    t.same(verdictOn(3, ['a2', 'a0', 'a1']), [])
    t.match(verdictOn(3, ['a0', 'a1']), [/was given 2/, /missed 1/])
    t.match(verdictOn(2, ['a0', 'a1', 'a1']), [/twice/])
    t.match(verdictOn(3, ['a0', 'a1', 'a5']), [
      /not frozen.*missed 1 \(a2\).*given 1 others \(a5\)/,
    ])
  },
)
