import t from 'tap'
import { claimOf, isDisputed } from '#services/normaliser/claims'
import { composeArticle } from '#services/normaliser/compose'
import { createTestPool } from '#test/database'
import { feedEntry, OUTLET, storedPage } from './pages.ts'
import { articlePage, storePages } from './stored.ts'

/* An outlet whose template names one canonical address on all its pages. */

const { database, pool } = await createTestPool(t)
await storePages(database, [])
const ONE = 'https://www.dagkoerier.example/nieuws/brug-over-de-maas-dicht'

async function read(path: string, title: string, about: string, disbelieved = false) {
  const url = `https://www.dagkoerier.example${path}`
  const html = articlePage(title, about).replace(
    '</head>',
    `<link rel="canonical" href="${ONE}"></head>`,
  )
  const page = storedPage(html, { url, entry: feedEntry({ url, title }), outlet: OUTLET })
  const made = await composeArticle(page, new Date('2026-11-20T12:00:00Z'), { disbelieved })
  if (made.kind !== 'article') throw new Error(made.detail)
  return made
}

t.test('an address that two different articles claim is believed of neither', async t => {
  const bridge = await read('/x/brug', 'Brug over de Maas gaat dicht', 'brug')
  t.equal(bridge.article.url, ONE)
  const claims = [
    bridge,
    await read('/y/brug', 'Brug over de Maas gaat dicht', 'brug en bus'),
    await read('/z/brug', 'De brug in Maaseik is dicht', 'brug'),
    await read('/x/zwembad', 'Zwembad van Temse opent in mei', 'zwembad'),
  ].map(({ claim }) => claim!)
  const asked = []
  for (const claim of claims) asked.push(await isDisputed(pool, 1, claim))
  t.same(asked, [false, false, false, true], 'not by the same title, nor by the same text')
  t.equal(await isDisputed(pool, 1, claims[3]!), true, 'also when a page is read again')
  t.equal(await isDisputed(pool, 1, bridge.claim!), true, 'later also the first')
  const disbelieved = await read('/x/zwembad', 'Zwembad van Temse opent in mei', 'zwembad', true)
  t.equal(disbelieved.article.url, 'https://www.dagkoerier.example/x/zwembad')
  t.notOk(disbelieved.article.addresses.some(key => key.includes('maas')))
})

t.test('an address of its own is no claim; a live blog may have several titles', async t => {
  const at = (url: string, title: string) =>
    claimOf({ addresses: ['a.example/live'], title }, { url, finalUrl: url }, null)
  t.equal(at('https://www.a.example/live?utm_source=rss', 'Live'), null)
  const posts = [1, 2, 3, 4, 5].map(
    post => at(`https://a.example/live?post=${post}`, `Dag ${post}`)!,
  )
  const asked = []
  for (const claim of posts) asked.push(await isDisputed(pool, 1, claim))
  t.same(asked, [false, false, false, false, true])
})
